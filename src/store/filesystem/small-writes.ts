import { boundedMap } from '../../base/bounded-map.js'
import type { Log } from '../../base/log.js'
import { StatusError } from '../../base/status-error.js'
import { cancellation } from '../../stream/join.js'
import { BATCH_FILES, type SmallFile } from './batch-memory.js'
import type { Layout } from './layout.js'
import { writeFileInPlace } from './place-file.js'
import { placingsPath } from './placings.js'
import type { WriteFailure } from './write-thread.js'
import { THREAD_FILE, WriteWorker } from './write-worker.js'

export interface SmallWrite extends SmallFile {
  readonly bytes: Buffer
}

/** The modification time of a file that is in its place, or why it is not. */
export type Written = number | Error

/** A larger file gains nothing from a thread: copying it there costs what the way to the thread pool and back does. */
export const SMALL_BYTES = 64 * 1024
/** Fewer than this at a time cost least through the thread pool. */
const WORTH_A_THREAD = 4
const THREADS_MAX = 2
/** More files than this wait for threads only when the disk is slow: then the thread pool is one more way to it. */
const WAITING_MAX = 4096
/** Files of one job that are in the thread pool at a time. */
const DIRECT_LANES = 16

/** Files that were handed over together. */
class Job {
  readonly files: readonly SmallWrite[]
  readonly signal: AbortSignal
  readonly written: Written[] = []
  /** How many of the files have been given to somebody who writes them. */
  begun = 0
  #settled = 0
  readonly #done: (written: readonly Written[]) => void

  constructor(files: readonly SmallWrite[], signal: AbortSignal, done: (written: readonly Written[]) => void) {
    this.files = files
    this.signal = signal
    this.#done = done
  }

  settle(index: number, written: Written): void {
    this.written[index] = written
    if (++this.#settled === this.files.length) this.#done(this.written)
  }

  get waitingCount(): number {
    return this.files.length - this.begun
  }

  /** Ends what has not begun. */
  giveUp(reason: Error): void {
    while (this.begun < this.files.length) this.settle(this.begun++, reason)
  }
}

/** One file of a job. */
interface Taken {
  readonly job: Job
  readonly index: number
}

/**
 * Writes whole small files. Through the thread pool one takes four operations and 110 to 150 microseconds of CPU, about
 * half of it for going there and back, so many at a time go to a thread of their own in batches. Threads start with the
 * first such batch: a store that never gets one has none.
 */
export class SmallWrites {
  readonly #layout: Layout
  readonly #log: Log
  readonly #threadFile: URL
  readonly #threads = new Set<WriteWorker>()
  readonly #jobs: Job[] = []
  #waitingCount = 0
  #threadCount = 0
  #isScheduled = false
  #canThread = true

  constructor(layout: Layout, log: Log, threadFile: URL = THREAD_FILE) {
    this.#layout = layout
    this.#log = log
    this.#threadFile = threadFile
  }

  /** Resolves with the modification time once the file is in its place; rejected, it leaves nothing. */
  async write(file: SmallWrite, signal: AbortSignal): Promise<number> {
    const [written] = await this.writeAll([file], signal)
    if (typeof written === 'number') return written
    throw written
  }

  /** Resolves once each is in its place or has failed, in the order given. An abort fails what has not begun. */
  writeAll(files: readonly SmallWrite[], signal: AbortSignal): Promise<readonly Written[]> {
    return new Promise((resolve) => {
      if (files.length === 0) {
        resolve([])
        return
      }
      const job = new Job(files, signal, resolve)
      if (files.some(({ bytes }) => bytes.length > SMALL_BYTES) || this.#waitingCount >= WAITING_MAX) {
        this.#writeDirectly(job)
        return
      }
      this.#jobs.push(job)
      this.#waitingCount += files.length
      this.#schedule()
    })
  }

  async close(): Promise<void> {
    await Promise.all([...this.#threads].map((thread) => thread.stop()))
  }

  /** After the current turn, in which whoever sends single files of a batch has handed over all of it. */
  #schedule(): void {
    if (this.#isScheduled) return
    this.#isScheduled = true
    setImmediate(() => {
      this.#isScheduled = false
      this.#flush()
    })
  }

  #flush(): void {
    while (this.#nextJob() !== undefined) {
      const thread = this.#freeThread()
      if (thread !== undefined) this.#writeBatch(thread)
      else if (this.#threads.size === 0 || this.#areAllFree()) this.#writeAllDirectly()
      else return
    }
  }

  /** The first job with files to begin. */
  #nextJob(): Job | undefined {
    for (let job = this.#jobs[0]; job !== undefined; job = this.#jobs[0]) {
      if (job.signal.aborted) {
        this.#waitingCount -= job.waitingCount
        job.giveUp(cancellation(job.signal))
      }
      if (job.waitingCount > 0) return job
      this.#jobs.shift()
    }
    return undefined
  }

  /** A thread for what waits now; none where too little waits, or all are busy and more would not help. */
  #freeThread(): WriteWorker | undefined {
    if (!this.#canThread || this.#waitingCount < WORTH_A_THREAD) return undefined
    for (const thread of this.#threads) if (thread.isFree) return thread
    const isEnough = this.#threads.size > 0 && this.#waitingCount < BATCH_FILES
    return this.#threads.size >= THREADS_MAX || isEnough ? undefined : this.#startThread()
  }

  #startThread(): WriteWorker {
    const data = {
      contentPath: this.#layout.contentPath,
      tempPrefix: `${this.#layout.nextTempPath()}-`,
      placingsPath: placingsPath(this.#layout, this.#threadCount++),
    }
    const thread: WriteWorker = new WriteWorker(this.#threadFile, data, () => {
      this.#threads.delete(thread)
      if (this.#waitingCount > 0) this.#schedule()
    })
    this.#threads.add(thread)
    return thread
  }

  #areAllFree(): boolean {
    return [...this.#threads].every(({ isFree }) => isFree)
  }

  #writeBatch(thread: WriteWorker): void {
    const batch = this.#fill(thread)
    thread.write((outcome) => {
      if (!(outcome instanceof StatusError)) {
        settle(thread, batch, outcome)
      } else if (thread.hasBegun) {
        for (const { job, index } of batch) job.settle(index, outcome)
      } else {
        this.#doWithoutThreads(batch, outcome)
      }
      this.#schedule()
    })
  }

  /** Gives a thread as much of what waits as it takes. */
  #fill({ memory }: WriteWorker): Taken[] {
    const batch: Taken[] = []
    memory.clear()
    for (let job = this.#nextJob(); job !== undefined; job = this.#nextJob()) {
      const file = job.files[job.begun]
      if (file === undefined || !memory.add(file)) break
      batch.push({ job, index: job.begun++ })
      this.#waitingCount--
    }
    return batch
  }

  #writeAllDirectly(): void {
    for (let job = this.#nextJob(); job !== undefined; job = this.#nextJob()) {
      this.#waitingCount -= job.waitingCount
      this.#writeDirectly(job)
    }
  }

  /** What has not begun of a job, through the thread pool. */
  #writeDirectly(job: Job): void {
    const indexes = Array.from({ length: job.waitingCount }, (_, number) => job.begun + number)
    job.begun = job.files.length
    void boundedMap(indexes, DIRECT_LANES, (index) => this.#writeOne({ job, index }))
  }

  async #writeOne({ job, index }: Taken): Promise<void> {
    const file = job.files[index]
    if (file === undefined) return
    const where = { tempPath: this.#layout.nextTempPath(), path: this.#layout.pathOf(file.name) }
    const written = job.signal.aborted
      ? cancellation(job.signal)
      : await writeFileInPlace({ ...where, bytes: file.bytes }, undefined).catch(asError)
    job.settle(index, written)
  }

  /** Where threads do not start (no memory, no permission) the thread pool writes everything. */
  #doWithoutThreads(batch: readonly Taken[], error: unknown): void {
    if (this.#canThread) this.#log.warn('could not start a thread for small files, going without', { error })
    this.#canThread = false
    void boundedMap(batch, DIRECT_LANES, (taken) => this.#writeOne(taken))
  }
}

const settle = ({ memory }: WriteWorker, batch: readonly Taken[], failures: readonly WriteFailure[]): void => {
  const failed = new Map(failures.map((failure) => [failure.index, failure]))
  for (const [place, { job, index }] of batch.entries()) {
    const failure = failed.get(place)
    const written = failure && Object.assign(new Error(failure.message), { code: failure.errno })
    job.settle(index, written ?? memory.mtimeMs(place))
  }
}

const asError = (thrown: unknown): Error => (thrown instanceof Error ? thrown : new Error(String(thrown)))
