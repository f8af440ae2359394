import { type FileHandle, mkdir, open, readFile, rename } from 'node:fs/promises'
import { join } from 'node:path'
import { crc32 } from 'node:zlib'
import { errnoOf, fileFailure } from '../../../../base/errno.js'
import { StatusError } from '../../../../base/status-error.js'
import { syncFolder } from '../../../../files/sync-folder.js'
import { Digest } from '../../../../reapi/digest.js'

/** An upload as the journal keeps it. */
export interface QueuedUpload {
  readonly digest: Digest
  readonly instanceName: string
  readonly sizeBytes: number
  readonly queuedMs: number
}

/** Lines about ended uploads beyond which the file is written anew, unless more uploads wait. */
const DEAD_LINES_MAX = 20_000

export interface JournalParts {
  readonly folder: string
  /** Whether a line must survive a power loss. */
  readonly isSynced: boolean
  /** The uploads that wait now, by number, for a new file. */
  readonly waiting: () => Iterable<readonly [number, QueuedUpload]>
  readonly waitingCount: () => number
}

interface Line {
  readonly text: string
  readonly done: (error?: StatusError) => void
}

/**
 * The uploads that wait, as a file of lines that is only appended to: one line when an upload is queued, one when it
 * has ended. Each line has a checksum, so that a torn one is noticed. Lines that arrive while a batch is written form
 * the next batch, so one write, and one sync, covers all of them. After a failed write the file is written anew.
 */
export class Journal {
  readonly #parts: JournalParts
  readonly #path: string
  #file: FileHandle | undefined
  #lines: Line[] = []
  #writing: Promise<void> | undefined
  #deadLines = 0
  #mustRewrite = true

  constructor(parts: JournalParts) {
    this.#parts = parts
    this.#path = join(parts.folder, NAME)
  }

  /** The uploads that an earlier process left, in their order, and how many lines are damaged. */
  static async read(folder: string): Promise<{ readonly uploads: QueuedUpload[]; readonly damagedLines: number }> {
    const text = await readFile(join(folder, NAME), 'latin1').catch((error: unknown) => {
      if (errnoOf(error) === 'ENOENT') return ''
      throw error
    })
    const uploads = new Map<number, QueuedUpload>()
    let damagedLines = 0
    const lines = text.split('\n')
    // The last line has no end only if its write was cut off; then nobody was told that it was queued.
    for (const line of lines.slice(0, -1)) {
      const parsed = parse(line)
      if (parsed === undefined) damagedLines += 1
      else if (parsed.upload === undefined) uploads.delete(parsed.id)
      else uploads.set(parsed.id, parsed.upload)
    }
    return { uploads: [...uploads.values()], damagedLines }
  }

  /** Resolves once the upload is on disk. */
  add(id: number, upload: QueuedUpload): Promise<void> {
    return new Promise((resolve, reject) => {
      const done = (error?: StatusError): void => (error === undefined ? resolve() : reject(error))
      this.#append({ text: lineOf(id, upload), done })
    })
  }

  /** Notes in the background that an upload has ended. If that is lost, it is uploaded once more. */
  end(id: number): void {
    this.#deadLines += 2
    this.#append({ text: lineOf(id), done: () => {} })
  }

  async close(): Promise<void> {
    await this.#writing
    await this.#file?.close()
  }

  #append(line: Line): void {
    this.#lines.push(line)
    this.#writing ??= this.#write()
  }

  async #write(): Promise<void> {
    while (this.#lines.length > 0) {
      const lines = this.#lines
      this.#lines = []
      const failure = await this.#writeAll(lines).catch((error: unknown) => fileFailure(error, FAILED))
      if (failure !== undefined) this.#mustRewrite = true
      for (const { done } of lines) done(failure)
    }
    // In the turn in which the last line was written: a line that comes later begins a write of its own.
    this.#writing = undefined
  }

  async #writeAll(lines: readonly Line[]): Promise<undefined> {
    const isMostlyDead = this.#deadLines > Math.max(DEAD_LINES_MAX, this.#parts.waitingCount())
    // The new file has what these lines say.
    if (this.#mustRewrite || isMostlyDead) return this.#rewrite()
    await this.#file?.appendFile(lines.map(({ text }) => text).join(''), 'latin1')
    if (this.#parts.isSynced) await this.#file?.datasync()
  }

  /** Replaces the file by one with the uploads that wait now. */
  async #rewrite(): Promise<undefined> {
    const { folder, isSynced, waiting } = this.#parts
    await mkdir(folder, { recursive: true })
    const temp = `${this.#path}.new`
    const file = await open(temp, 'w')
    try {
      await file.appendFile([...waiting()].map(([id, upload]) => lineOf(id, upload)).join(''), 'latin1')
      if (isSynced) await file.datasync()
      await rename(temp, this.#path)
      if (isSynced) await syncFolder(folder)
    } catch (error) {
      await file.close()
      throw error
    }
    await this.#file?.close()
    this.#file = file
    this.#deadLines = 0
    this.#mustRewrite = false
  }
}

const NAME = 'queue'
const FAILED = 'could not note that an upload waits for the slow store'

const lineOf = (id: number, upload?: QueuedUpload): string => {
  const text = escaped(JSON.stringify(upload === undefined ? [id] : [id, ...fieldsOf(upload)]))
  return `${crc32(text).toString(16).padStart(8, '0')} ${text}\n`
}

/** ASCII only, because instance names may have any characters. */
const escaped = (json: string): string =>
  json.replaceAll(/[\u0080-\uffff]/g, (unit) => `\\u${unit.charCodeAt(0).toString(16).padStart(4, '0')}`)

const fieldsOf = ({ digest, instanceName, sizeBytes, queuedMs }: QueuedUpload): readonly unknown[] => {
  const { content, describesContent, instanceName: isolatedFor = null } = digest
  return [content.key, describesContent, isolatedFor, instanceName, sizeBytes, queuedMs]
}

/** Undefined if the line is damaged. */
const parse = (line: string): { readonly id: number; readonly upload: QueuedUpload | undefined } | undefined => {
  const text = line.slice(9)
  if (line.slice(0, 9) !== `${crc32(text).toString(16).padStart(8, '0')} `) return undefined
  const [id, key, describesContent, isolatedFor, instanceName, sizeBytes, queuedMs] = JSON.parse(text)
  if (key === undefined) return { id, upload: undefined }
  const content = Digest.ofKey(key)
  if (content === undefined) throw new StatusError('FAILED_PRECONDITION', `a queued upload has the key ${key}`)
  const stored = isolatedFor === null ? content : content.isolatedFor(isolatedFor)
  const digest = describesContent ? stored : stored.asKey()
  return { id, upload: { digest, instanceName, sizeBytes, queuedMs } }
}
