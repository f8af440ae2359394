import { createHash } from 'node:crypto'
import { readdir } from 'node:fs/promises'
import { join } from 'node:path'
import { errnoOf } from '../../../base/errno.js'
import { StatusError } from '../../../base/status-error.js'
import type { FolderFormat } from '../../../files/folder-format.js'
import { Digest } from '../../../reapi/digest.js'
import { functionsByName } from '../../../reapi/digest-function.js'
import { NOTES_FOLDER } from '../../contract/notes-folder.js'

/** 2: files with several blobs (`packs`), which releases before 0.2.0 take for absent. */
export const FORMAT: FolderFormat = {
  what: 'content_path',
  current: 2,
  otherwise: 'name another content_path: clients upload again what they need',
}

/** The content of a file name. */
export interface BlobName {
  readonly digest: Digest
  readonly storedBytes: number
  readonly isExecutable: boolean
}

/**
 * The paths of a store. The log is in `{content_path}/records`, the last checkpoint of the index in
 * `{content_path}/index`, blobs that were put together in `{content_path}/packs`, and other large blobs in `{content_path}/{function}/{first two
 * digits}/{hash}-{sizeBytes}-{storedBytes}`. The name of an executable copy ends with `x`.
 */
export class Layout {
  readonly contentPath: string
  readonly tempPath: string
  readonly #tempPrefix: string
  readonly #writer: string
  #tempCount = 0

  /** `writer` tells the temporary files of one thread from those of the others. */
  constructor(contentPath: string, tempPath: string, writer = '') {
    this.contentPath = contentPath
    this.tempPath = tempPath
    this.#writer = writer
    // Stores may share a temp_path, so the prefix marks the files of this store.
    this.#tempPrefix = `${createHash('sha256').update(contentPath).digest('hex').slice(0, 12)}-`
  }

  get checkpointPath(): string {
    return join(this.contentPath, 'index')
  }

  /** The folder for notes about blobs by the store in front. */
  get notesPath(): string {
    return join(this.contentPath, NOTES_FOLDER)
  }

  /** The folder of the log. */
  get recordsPath(): string {
    return join(this.contentPath, RECORDS)
  }

  /** The folder of a digest, relative to content_path. */
  folderOf(digest: Digest): string {
    return `${digest.function.name.toLowerCase()}/${digest.hash.slice(0, 2)}`
  }

  /** The folders that may contain blobs and exist. An unreadable folder is reported to `fail` and left out. */
  async folders(fail: (error: unknown) => void): Promise<string[]> {
    const pairsOf = async (name: string): Promise<string[]> => {
      const pairs = await readdir(this.folderPath(name)).catch((error: unknown) => {
        if (errnoOf(error) !== 'ENOENT') fail(error)
        return []
      })
      return pairs.filter((pair) => PAIR.test(pair)).map((pair) => `${name}/${pair}`)
    }
    return (await Promise.all([...functionsByName.keys()].map(pairsOf))).flat()
  }

  /**
   * Rejects a content_path filled by an older version, which kept every blob as a file without a record. The folder is
   * not changed.
   */
  async refuseOlder(): Promise<void> {
    const names = await readdir(this.contentPath)
    if (names.includes(RECORDS) || !names.some((name) => functionsByName.has(name))) return
    const text = `content_path ${this.contentPath} holds blobs as an older version of remexec kept them, which this one cannot read`
    const advice = 'name another content_path, or delete this one: clients upload again what they need'
    throw new StatusError('FAILED_PRECONDITION', `${text}: ${advice}`)
  }

  folderPath(folder: string): string {
    return `${this.contentPath}/${folder}`
  }

  blobPath(digest: Digest, storedBytes: number): string {
    return `${this.folderPath(this.folderOf(digest))}/${digest.hash}-${digest.sizeBytes}-${storedBytes}`
  }

  executablePath(digest: Digest, storedBytes: number): string {
    return `${this.blobPath(digest, storedBytes)}x`
  }

  /** Parses a file name; undefined when it is not a name of this store. */
  parse(folder: string, name: string): BlobName | undefined {
    const digestFunction = functionsByName.get(folder.slice(0, folder.indexOf('/')))
    const [, hash = '', size, stored, executable] = NAME.exec(name) ?? []
    const [sizeBytes, storedBytes] = [Number(size), Number(stored)]
    if (hash.length !== digestFunction?.hexLength || !hash.startsWith(folder.slice(-2))) return undefined
    if (!Number.isSafeInteger(sizeBytes) || !Number.isSafeInteger(storedBytes)) return undefined
    return { digest: Digest.parse({ hash, sizeBytes }, digestFunction), storedBytes, isExecutable: executable === 'x' }
  }

  get packsPath(): string {
    return `${this.contentPath}/${PACKS}`
  }

  /** The path of a file with several blobs. */
  packPath(number: number): string {
    const name = number.toString(16).padStart(12, '0')
    return `${this.packsPath}/${name.slice(0, 2)}/${name}`
  }

  /** The number of such a file; undefined for another name. */
  packNumber(name: string): number | undefined {
    return PACK.test(name) ? Number.parseInt(name, 16) : undefined
  }

  nextTempPath(): string {
    return `${this.tempPath}/${this.#tempPrefix}${this.#writer}${this.#tempCount++}`
  }

  isTemp(name: string): boolean {
    return name.startsWith(this.#tempPrefix)
  }
}

const RECORDS = 'records'
const PACKS = 'packs'

const PACK = /^[0-9a-f]{12}$/

const PAIR = /^[0-9a-f]{2}$/

const NAME = /^([0-9a-f]+)-(0|[1-9]\d*)-(0|[1-9]\d*)(x?)$/
