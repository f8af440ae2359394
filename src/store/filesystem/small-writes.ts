import type { Log } from '../../base/log.js'
import { StatusError } from '../../base/status-error.js'
import { cancellation } from '../../stream/join.js'
import { writeFileInPlace } from './place-file.js'
import type { Written } from './write-thread.js'
import { BATCH_BYTES, THREAD_FILE, WriteWorker } from './write-worker.js'

export interface SmallWrite {
  readonly tempPath: string
  readonly path: string
  readonly bytes: Buffer
  readonly signal: AbortSignal
}

interface Waiting extends SmallWrite {
  readonly resolve: (mtimeMs: number) => void
  readonly reject: (error: unknown) => void
}

/** A larger file gains nothing from a thread: copying it there costs what the way to the thread pool and back does. */
const SMALL_BYTES = 64 * 1024
/** Fewer than this at a time cost least through the thread pool. */
const WORTH_A_THREAD = 4
const BATCH_FILES = 32
const THREADS_MAX = 2
/** More than this wait for threads only when the disk is slow: then the thread pool is one more way to it. */
const WAITING_MAX = 512

/**
 * Writes whole files: temporary file, rename. Four operations through the thread pool cost 110 to 150 microseconds of
 * CPU, about half of it for going there and back, so many small files at a time go to a thread of their own in batches
 * (70 microseconds a file). Threads start with the first such batch: a store that never gets one has none.
 */
export class SmallWrites {
  readonly #log: Log
  readonly #threadFile: URL
  readonly #threads = new Set<WriteWorker>()
  #waiting: Waiting[] = []
  #isScheduled = false
  #canThread = true

  constructor(log: Log, threadFile: URL = THREAD_FILE) {
    this.#log = log
    this.#threadFile = threadFile
  }

  /** Resolves with the modification time once the file is in its place; rejected, it leaves nothing. */
  write(write: SmallWrite): Promise<number> {
    if (write.bytes.length > SMALL_BYTES || this.#waiting.length >= WAITING_MAX) return direct(write)
    return new Promise((resolve, reject) => {
      this.#waiting.push({ ...write, resolve, reject })
      this.#schedule()
    })
  }

  async close(): Promise<void> {
    await Promise.all([...this.#threads].map((thread) => thread.stop()))
  }

  /** After the current turn, in which whoever sends a batch has handed over all of it. */
  #schedule(): void {
    if (this.#isScheduled) return
    this.#isScheduled = true
    setImmediate(() => {
      this.#isScheduled = false
      this.#flush()
    })
  }

  #flush(): void {
    this.#dropAborted()
    while (this.#waiting.length > 0) {
      const thread = this.#freeThread()
      if (thread !== undefined) void this.#writeBatch(thread)
      else if (this.#threads.size === 0 || this.#areAllFree()) writeDirectly(this.#waiting.splice(0))
      else return
    }
  }

  #dropAborted(): void {
    this.#waiting = this.#waiting.filter(({ signal, reject }) => {
      if (signal.aborted) reject(cancellation(signal))
      return !signal.aborted
    })
  }

  /** A thread for what waits now; none where too little waits, or all are busy and more would not help. */
  #freeThread(): WriteWorker | undefined {
    if (!this.#canThread || this.#waiting.length < WORTH_A_THREAD) return undefined
    for (const thread of this.#threads) if (thread.isFree) return thread
    if (this.#threads.size >= THREADS_MAX || (this.#threads.size > 0 && this.#waiting.length < BATCH_FILES))
      return undefined
    const thread: WriteWorker = new WriteWorker(this.#threadFile, () => {
      this.#threads.delete(thread)
      if (this.#waiting.length > 0) this.#schedule()
    })
    this.#threads.add(thread)
    return thread
  }

  #areAllFree(): boolean {
    return [...this.#threads].every(({ isFree }) => isFree)
  }

  async #writeBatch(thread: WriteWorker): Promise<void> {
    const batch = this.#takeBatch()
    try {
      const files = batch.map(({ tempPath, path, bytes }) => ({ tempPath, path, sizeBytes: bytes.length }))
      const answers = await thread.write(
        files,
        batch.map(({ bytes }) => bytes),
      )
      for (const [index, file] of batch.entries()) settle(file, answers[index])
    } catch (error) {
      if (thread.hasBegun) for (const { reject } of batch) reject(error)
      else this.#doWithoutThreads(batch, error)
    }
    this.#schedule()
  }

  #takeBatch(): Waiting[] {
    let sizeBytes = 0
    const isFull = ({ bytes }: Waiting, index: number): boolean => {
      sizeBytes += bytes.length
      return index === BATCH_FILES || sizeBytes > BATCH_BYTES
    }
    const end = this.#waiting.findIndex(isFull)
    return this.#waiting.splice(0, end < 0 ? this.#waiting.length : end)
  }

  /** Where threads do not start (no memory, no permission) the thread pool writes everything. */
  #doWithoutThreads(batch: readonly Waiting[], error: unknown): void {
    if (this.#canThread) this.#log.warn('could not start a thread for small files, going without', { error })
    this.#canThread = false
    writeDirectly(batch)
  }
}

const writeDirectly = (files: readonly Waiting[]): void => {
  for (const file of files) direct(file).then(file.resolve, file.reject)
}

const direct = (write: SmallWrite): Promise<number> => writeFileInPlace(write, undefined)

const settle = ({ resolve, reject }: Waiting, written: Written | undefined): void => {
  if (written === undefined) reject(new StatusError('INTERNAL', 'the thread that writes small files gave no answer'))
  else if ('mtimeMs' in written) resolve(written.mtimeMs)
  else reject(Object.assign(new Error(written.message), { code: written.errno }))
}
