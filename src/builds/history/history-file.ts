import { createReadStream } from 'node:fs'
import { appendFile, open, rename, rm, stat } from 'node:fs/promises'
import { createInterface } from 'node:readline'
import { errnoOf } from '../../base/errno.js'
import { decodeHistory, encodeHistory, HISTORY_VERSION, type HistoryRecord } from './record.js'

/** Older runs are dropped when the file is rewritten, and are not shown. */
export const HISTORY_MS = 30 * 86_400_000
/** Beyond it the file is rewritten without its older half. */
const MAX_BYTES = 64 * 1024 * 1024
const HEAD = `{"remexecHistory":${HISTORY_VERSION}}\n`

/**
 * The tests of finished builds, in one append-only file of lines. It is derived: whatever is lost of it is read from the logs
 * again, as long as these are kept. Writes come one after the other.
 */
export class HistoryFile {
  readonly #path: string
  #writing: Promise<void> = Promise.resolve()
  #sizeBytes = 0

  constructor(path: string) {
    this.#path = path
  }

  /** Changes when the file does. */
  get sizeBytes(): number {
    return this.#sizeBytes
  }

  /** The keys of the builds that it has; empty for a file of another version, which begins anew. */
  async open(): Promise<Set<string>> {
    const keys = new Set<string>()
    let isOurs = false
    for await (const line of this.#lines()) {
      if (!isOurs) {
        isOurs = `${line}\n` === HEAD
        if (!isOurs) break
        continue
      }
      const record = decodeHistory(line)
      if (record !== undefined) keys.add(record.key)
    }
    if (isOurs) await this.#goOn()
    else await rm(this.#path, { force: true })
    return keys
  }

  /** A line that a crash cut off ends here, so that the next one begins anew. */
  async #goOn(): Promise<void> {
    this.#sizeBytes = (await stat(this.#path)).size
    const last = Buffer.alloc(1)
    const handle = await open(this.#path)
    try {
      await handle.read(last, 0, 1, this.#sizeBytes - 1)
    } finally {
      await handle.close()
    }
    if (last.toString() !== '\n') await this.#append('\n')
  }

  /** Resolves when the record is written. */
  add(record: HistoryRecord): Promise<void> {
    const added = this.#writing.then(() => this.#write(record))
    this.#writing = added.catch(() => {})
    return added
  }

  /** Resolves when nothing is being written. */
  settled(): Promise<void> {
    return this.#writing
  }

  /** The records, the oldest first. Damaged lines are left out. */
  async *records(): AsyncGenerator<HistoryRecord, void, undefined> {
    for await (const line of this.#lines()) {
      const record = decodeHistory(line)
      if (record !== undefined) yield record
    }
  }

  async #write(record: HistoryRecord): Promise<void> {
    if (this.#sizeBytes > MAX_BYTES) await this.#rewrite(record.atMs - HISTORY_MS)
    await this.#append(encodeHistory(record))
  }

  async #append(line: string): Promise<void> {
    const text = this.#sizeBytes === 0 ? HEAD + line : line
    await appendFile(this.#path, text, { mode: 0o600 })
    this.#sizeBytes += Buffer.byteLength(text)
  }

  /** Keeps the records of the last days that fit into half of the bound. */
  async #rewrite(fromMs: number): Promise<void> {
    const before = this.#sizeBytes
    const path = `${this.#path}.new`
    const handle = await open(path, 'w', 0o600)
    let sizeBytes = HEAD.length
    try {
      await handle.write(HEAD)
      let readBytes = 0
      for await (const record of this.records()) {
        const line = encodeHistory(record)
        readBytes += Buffer.byteLength(line)
        if (record.atMs < fromMs || before - readBytes > MAX_BYTES / 2) continue
        await handle.write(line)
        sizeBytes += Buffer.byteLength(line)
      }
    } finally {
      await handle.close()
    }
    await rename(path, this.#path)
    this.#sizeBytes = sizeBytes
  }

  async *#lines(): AsyncGenerator<string, void, undefined> {
    const input = createReadStream(this.#path)
    try {
      yield* createInterface({ input, crlfDelay: Number.POSITIVE_INFINITY })
    } catch (error) {
      ignoreAbsent(error)
    } finally {
      input.destroy()
    }
  }
}

const ignoreAbsent = (error: unknown): void => {
  if (errnoOf(error) !== 'ENOENT') throw error
}
