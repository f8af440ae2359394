import { createHash } from 'node:crypto'
import { readdir } from 'node:fs/promises'
import { join } from 'node:path'
import { errnoOf } from '../../base/errno.js'
import { StatusError } from '../../base/status-error.js'
import type { Digest } from '../../reapi/digest.js'
import { type DigestFunction, digestFunctions } from '../../reapi/digest-function.js'

/** What the name of a file says. */
export interface BlobName {
  readonly digestFunction: DigestFunction
  readonly hash: string
  readonly sizeBytes: number
  readonly storedBytes: number
  readonly isTwin: boolean
}

/**
 * Where things are: the log in `{content_path}/records`, the index as it was last kept in `{content_path}/index`, and large
 * blobs in `{content_path}/{function}/{first two digits}/{hash}-{sizeBytes}-{storedBytes}`, with an `x` behind it for the
 * executable twin.
 */
export class Layout {
  readonly contentPath: string
  readonly tempPath: string
  readonly #tempPrefix: string
  #tempCount = 0

  constructor(contentPath: string, tempPath: string) {
    this.contentPath = contentPath
    this.tempPath = tempPath
    // Stores may share a temp_path: each knows its own files by this.
    this.#tempPrefix = `${createHash('sha256').update(contentPath).digest('hex').slice(0, 12)}-`
  }

  get checkpointPath(): string {
    return join(this.contentPath, 'index')
  }

  /** The folder of the log. */
  get recordsPath(): string {
    return join(this.contentPath, RECORDS)
  }

  /** The folder of a digest, relative to content_path. */
  folderOf(digest: Digest): string {
    return `${digest.function.name.toLowerCase()}/${digest.hash.slice(0, 2)}`
  }

  /** Which of the folders that blobs may be in exist. One that cannot be read is told of, and left out. */
  async folders(fail: (error: unknown) => void): Promise<string[]> {
    const pairsOf = async (name: string): Promise<string[]> => {
      const pairs = await readdir(this.folderPath(name)).catch((error: unknown) => {
        if (errnoOf(error) !== 'ENOENT') fail(error)
        return []
      })
      return pairs.filter((pair) => PAIR.test(pair)).map((pair) => `${name}/${pair}`)
    }
    return (await Promise.all([...functionsByFolder.keys()].map(pairsOf))).flat()
  }

  /**
   * Refuses a content_path that an older version filled: it kept every blob as a file, and no record of any. Its folder is
   * left as it is.
   */
  async refuseOlder(): Promise<void> {
    const names = await readdir(this.contentPath)
    if (names.includes(RECORDS) || !names.some((name) => functionsByFolder.has(name))) return
    const text = `content_path ${this.contentPath} holds blobs as an older version of remexec kept them, which this one cannot read`
    const advice = 'name another content_path, or delete this one: clients upload again what they need'
    throw new StatusError('FAILED_PRECONDITION', `${text}: ${advice}`)
  }

  folderPath(folder: string): string {
    return `${this.contentPath}/${folder}`
  }

  /** The name of a blob's file, relative to content_path. */
  blobName(digest: Digest, storedBytes: number): string {
    return `${this.folderOf(digest)}/${digest.hash}-${digest.sizeBytes}-${storedBytes}`
  }

  pathOf(name: string): string {
    return `${this.contentPath}/${name}`
  }

  blobPath(digest: Digest, storedBytes: number): string {
    return this.pathOf(this.blobName(digest, storedBytes))
  }

  twinPath(digest: Digest, storedBytes: number): string {
    return `${this.blobPath(digest, storedBytes)}x`
  }

  /** Reads a file name back; undefined when it is none of ours. A million of them are read after a crash. */
  parse(folder: string, name: string): BlobName | undefined {
    const digestFunction = functionsByFolder.get(folder.slice(0, folder.indexOf('/')))
    if (digestFunction === undefined || !name.startsWith(folder.slice(-2))) return undefined
    const { hexLength } = digestFunction
    if (!isHex(name, hexLength) || name.charCodeAt(hexLength) !== HYPHEN) return undefined
    const hyphenAt = name.indexOf('-', hexLength + 1)
    if (hyphenAt < 0) return undefined
    const isTwin = name.endsWith('x')
    const sizeBytes = decimal(name, hexLength + 1, hyphenAt)
    const storedBytes = decimal(name, hyphenAt + 1, isTwin ? name.length - 1 : name.length)
    if (sizeBytes < 0 || storedBytes < 0) return undefined
    return { digestFunction, hash: name.slice(0, hexLength), sizeBytes, storedBytes, isTwin }
  }

  nextTempPath(): string {
    return `${this.tempPath}/${this.#tempPrefix}${this.#tempCount++}`
  }

  isTemp(name: string): boolean {
    return name.startsWith(this.#tempPrefix)
  }
}

const RECORDS = 'records'

const PAIR = /^[0-9a-f]{2}$/

const HYPHEN = '-'.charCodeAt(0)
const ZERO = '0'.charCodeAt(0)
const NINE = '9'.charCodeAt(0)
const A = 'a'.charCodeAt(0)
const F = 'f'.charCodeAt(0)

const isHex = (name: string, length: number): boolean => {
  if (name.length < length) return false
  for (let at = 0; at < length; at++) {
    const code = name.charCodeAt(at)
    if (!((code >= ZERO && code <= NINE) || (code >= A && code <= F))) return false
  }
  return true
}

/** The number between two places of a name, as we write it; -1 when there is none. */
const decimal = (name: string, from: number, to: number): number => {
  if (from === to || (name.charCodeAt(from) === ZERO && to - from > 1)) return -1
  let value = 0
  for (let at = from; at < to; at++) {
    const digit = name.charCodeAt(at) - ZERO
    if (digit < 0 || digit > 9) return -1
    value = value * 10 + digit
  }
  return value <= Number.MAX_SAFE_INTEGER ? value : -1
}

const functionsByFolder: ReadonlyMap<string, DigestFunction> = new Map(
  Object.values(digestFunctions).map((digestFunction) => [digestFunction.name.toLowerCase(), digestFunction]),
)
