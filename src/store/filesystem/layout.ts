import { createHash } from 'node:crypto'
import { join } from 'node:path'
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
 * Where things are: `{content_path}/{function}/{first two digits}/{hash}-{sizeBytes}-{storedBytes}`, with an `x` behind it
 * for the executable twin. The length in the name shows a torn file for what it is, and lets the index be rebuilt
 * without asking for every file's size.
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

  /** The folder of a digest, relative to content_path. */
  folderOf(digest: Digest): string {
    return `${digest.function.name.toLowerCase()}/${digest.hash.slice(0, 2)}`
  }

  /** Every folder there can be. */
  folders(): string[] {
    const pairs = Array.from({ length: 256 }, (_, value) => value.toString(16).padStart(2, '0'))
    return Object.keys(digestFunctions).flatMap((name) => pairs.map((pair) => `${name.toLowerCase()}/${pair}`))
  }

  folderPath(folder: string): string {
    return `${this.contentPath}/${folder}`
  }

  blobPath(digest: Digest, storedBytes: number): string {
    return `${this.contentPath}/${this.folderOf(digest)}/${digest.hash}-${digest.sizeBytes}-${storedBytes}`
  }

  twinPath(digest: Digest, storedBytes: number): string {
    return `${this.blobPath(digest, storedBytes)}x`
  }

  /** Reads a file name back; undefined when it is none of ours. */
  parse(folder: string, name: string): BlobName | undefined {
    const digestFunction = functionsByFolder.get(folder.slice(0, folder.indexOf('/')))
    if (digestFunction === undefined || !name.startsWith(folder.slice(-2)) || !NAME.test(name)) return undefined
    const { hexLength } = digestFunction
    const storedAt = name.indexOf('-', hexLength + 1) + 1
    if (name.indexOf('-') !== hexLength || storedAt === 0) return undefined
    const isTwin = name.endsWith('x')
    const sizeBytes = Number(name.slice(hexLength + 1, storedAt - 1))
    const storedBytes = Number(isTwin ? name.slice(storedAt, -1) : name.slice(storedAt))
    if (!Number.isSafeInteger(sizeBytes) || !Number.isSafeInteger(storedBytes)) return undefined
    return { digestFunction, hash: name.slice(0, hexLength), sizeBytes, storedBytes, isTwin }
  }

  nextTempPath(): string {
    return `${this.tempPath}/${this.#tempPrefix}${this.#tempCount++}`
  }

  isTemp(name: string): boolean {
    return name.startsWith(this.#tempPrefix)
  }
}

const NAME = /^[0-9a-f]{32,128}-\d{1,16}-\d{1,16}x?$/

const functionsByFolder: ReadonlyMap<string, DigestFunction> = new Map(
  Object.values(digestFunctions).map((digestFunction) => [digestFunction.name.toLowerCase(), digestFunction]),
)
