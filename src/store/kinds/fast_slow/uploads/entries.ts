import type { Digest } from '../../../../reapi/digest.js'
import type { QueuedUpload } from './journal.js'

/** An upload that failed waits for so long, then twice as long. */
const AGAIN_MS = 1000
const AGAIN_MAX_MS = 60_000

/** Later than any clock, so that numbers of earlier processes are below all others. */
const BEFORE_ALL = 1e15

export interface Sending {
  readonly work: Promise<void>
  /** When it is given up, to be tried again. */
  readonly deadlineMs: number
  readonly giveUp: () => void
}

export interface Entry {
  /** Its number in the journal. */
  readonly id: number
  readonly upload: QueuedUpload
  /** Its number in the order of all uploads. */
  number: number
  /** Resolves once it is on disk. */
  noted: Promise<void>
  /** The upload in flight. */
  sending: Sending | undefined
  /** The blob under a key was replaced during the upload. */
  isAgain: boolean
  failedCount: number
  dueMs: number
}

interface Limits {
  readonly nowMs: number
  /** The number of the oldest upload in other queues. */
  readonly oldestBeside: number
  /** Whether a put into fast is in flight. */
  isComing(key: string): boolean
}

/** The uploads of one queue, in their order: blobs, and what is stored under keys. */
export class Entries {
  readonly #blobs = new Map<string, Entry>()
  readonly #keyed = new Map<string, Entry>()
  #lastId = 0
  #bytes = 0

  get count(): number {
    return this.#blobs.size + this.#keyed.size
  }

  get bytes(): number {
    return this.#bytes
  }

  /** The number of the oldest upload. */
  get oldest(): number {
    return Math.min(numberOf(firstOf(this.#blobs)), numberOf(firstOf(this.#keyed)))
  }

  get oldestQueuedMs(): number | undefined {
    const times = [firstOf(this.#blobs), firstOf(this.#keyed)].flatMap((entry) => entry?.upload.queuedMs ?? [])
    return times.length === 0 ? undefined : Math.min(...times)
  }

  *all(): Generator<readonly [number, QueuedUpload]> {
    for (const { id, upload } of this.#blobs.values()) yield [id, upload]
    for (const { id, upload } of this.#keyed.values()) yield [id, upload]
  }

  find(digest: Digest): Entry | undefined {
    return this.#of(digest).get(digest.key)
  }

  add(upload: QueuedUpload, number: number): Entry {
    this.#lastId += 1
    const state = { sending: undefined, isAgain: false, failedCount: 0, dueMs: 0 }
    const entry: Entry = { id: this.#lastId, upload, number, noted: NOTED, ...state }
    this.#of(upload.digest).set(upload.digest.key, entry)
    this.#bytes += upload.sizeBytes
    return entry
  }

  /** Adds an upload of an earlier process. Blobs come before all results, because the order of two queues is lost. */
  recover(upload: QueuedUpload): void {
    this.add(upload, upload.digest.describesContent ? Number.NEGATIVE_INFINITY : upload.queuedMs - BEFORE_ALL)
  }

  /** The blob under a key was replaced, so it follows all that was queued until now. */
  renew(entry: Entry, number: number): void {
    entry.number = number
    entry.isAgain = entry.sending !== undefined
    this.#keyed.delete(entry.upload.digest.key)
    this.#keyed.set(entry.upload.digest.key, entry)
  }

  failed(entry: Entry, nowMs: number): void {
    entry.dueMs = nowMs + Math.min(AGAIN_MAX_MS, AGAIN_MS * 2 ** entry.failedCount)
    entry.failedCount += 1
  }

  remove({ upload: { digest, sizeBytes } }: Entry): void {
    this.#of(digest).delete(digest.key)
    this.#bytes -= sizeBytes
  }

  /** The upload that may begin next. */
  next(limits: Limits): Entry | undefined {
    const { nowMs, oldestBeside, isComing } = limits
    const isReady = ({ sending, dueMs }: Entry): boolean => sending === undefined && nowMs >= dueMs
    for (const entry of this.#blobs.values()) if (isReady(entry)) return entry
    const oldestBefore = Math.min(oldestBeside, numberOf(firstOf(this.#blobs)))
    for (const entry of this.#keyed.values()) {
      // All that follow have greater numbers.
      if (entry.number > oldestBefore) return undefined
      if (isReady(entry) && !isComing(entry.upload.digest.key)) return entry
    }
    return undefined
  }

  #of({ describesContent }: Digest): Map<string, Entry> {
    return describesContent ? this.#blobs : this.#keyed
  }
}

const NOTED = Promise.resolve()

const firstOf = (entries: ReadonlyMap<string, Entry>): Entry | undefined => entries.values().next().value

const numberOf = (entry: Entry | undefined): number => entry?.number ?? Number.POSITIVE_INFINITY
