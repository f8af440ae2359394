import type { Clock } from '../../../../base/clock.js'
import type { HealthStatus } from '../../../../base/health.js'
import { counted, sizeText, timeText } from '../../../../base/quantities.js'
import { Code, isStatus, StatusError } from '../../../../base/status-error.js'
import type { UploadQueueUsage } from '../../../../blobs/meter.js'
import { type LastingBlobs, missingOf, outcomeOf, type Store } from '../../../../blobs/store.js'
import type { Log } from '../../../../log/log.js'
import { SparingLog } from '../../../../log/sparing-log.js'
import type { Digest } from '../../../../reapi/digest.js'
import { type Call, internalCall } from '../../../../rpc/call.js'
import { WHOLE } from '../../../../stream/path.js'
import { inBackground } from '../../../../work/in-background.js'
import type { OrderedQueue, UploadOrder } from '../../../contract/upload-order.js'
import type { SlowWatch } from '../slow-watch.js'
import { Backoff } from './backoff.js'
import { Entries, type Entry, type Sending } from './entries.js'
import { Journal, type QueuedUpload } from './journal.js'

export interface UploadQueueParts {
  readonly fast: Store
  readonly slow: Store
  readonly lasting: LastingBlobs
  readonly maxBytes: number
  readonly maxCount: number
  readonly maxConcurrent: number
  readonly order: UploadOrder
  readonly watch: SlowWatch
  readonly clock: Clock
  readonly log: Log
  /** The name of the store in the log. */
  readonly path: string
}

const TICK_MS = 1000
/** An upload that takes longer is given up and tried again: so long, and so much for each byte. */
const PATIENCE_MS = 5 * 60_000
const PATIENCE_MS_PER_BYTE = 16_000 / (1024 * 1024)
const RATION = { lines: 1, periodMs: 60_000 }

/** What slow says to an upload that it will never take. */
const REFUSALS: ReadonlySet<number> = new Set([Code.INVALID_ARGUMENT, Code.OUT_OF_RANGE, Code.UNIMPLEMENTED])
/** Refusals after which an upload is given up. */
const REFUSALS_MAX = 5

/** A place in the queue, taken before fast has the blob, so that fast does not evict it. */
export interface Place {
  /** To be called once fast has the blob. Resolves when the upload is queued on disk. */
  queued(call: Call): Promise<void>
  /** Gives the place back unless the upload was queued. Idempotent. */
  release(): void
}

/**
 * Uploads that fast has acknowledged and slow does not have yet. Their bytes are in fast, which holds them until slow
 * has them; the queue itself is a journal in the folder of fast. Blobs are uploaded in the order of their arrival,
 * what is stored under a key after all that was queued before it (`UploadOrder`).
 */
export class UploadQueue implements OrderedQueue {
  readonly #parts: UploadQueueParts
  readonly #log: SparingLog
  readonly #entries = new Entries()
  readonly #journal: Journal
  readonly #backoff: Backoff
  readonly #closing = new AbortController()
  readonly #stops: readonly (() => void)[]
  readonly #sending = new Set<Sending>()
  /** Puts in flight into fast, by key. */
  readonly #coming = new Map<string, number>()
  #comingCount = 0
  #comingBytes = 0
  #isFull = false
  #doneCount = 0
  #retriedCount = 0
  #lostCount = 0

  private constructor(parts: UploadQueueParts) {
    const { clock, log, order, lasting, watch } = parts
    this.#parts = parts
    this.#log = new SparingLog(log, clock, RATION)
    this.#backoff = new Backoff(clock)
    const { folder, isSynced } = lasting
    const [waiting, waitingCount] = [() => this.#entries.all(), () => this.#entries.count]
    this.#journal = new Journal({ folder, isSynced, waiting, waitingCount })
    watch.onBack(() => this.goOn())
    this.#stops = [order.add(this), clock.every(TICK_MS, () => this.#tick())]
  }

  /** Opens the queue with the uploads that an earlier process left. They begin when all stores are built. */
  static async open(parts: UploadQueueParts): Promise<UploadQueue> {
    const { lasting, log, path } = parts
    const { uploads, damagedLines } = await Journal.read(lasting.folder)
    const queue = new UploadQueue(parts)
    for (const upload of uploads) queue.#recover(upload)
    if (damagedLines > 0) log.warn('lines of the upload queue are damaged', { store: path, lines: damagedLines })
    const { count, bytes } = queue.#entries
    if (count > 0) log.info('uploads of an earlier process wait for the slow store', { store: path, count, bytes })
    return queue
  }

  get count(): number {
    return this.#entries.count
  }

  get oldest(): number {
    return this.#entries.oldest
  }

  get usage(): UploadQueueUsage {
    const { count, bytes, oldestQueuedMs } = this.#entries
    const oldestAgeMs = oldestQueuedMs === undefined ? 0 : Math.max(0, this.#parts.clock.now() - oldestQueuedMs)
    const ended = { doneCount: this.#doneCount, retriedCount: this.#retriedCount, lostCount: this.#lostCount }
    return { entryCount: count, sizeBytes: bytes, oldestAgeMs, ...ended }
  }

  /** Whether slow does not have the blob yet, which fast acknowledged. */
  has(digest: Digest): boolean {
    return this.#entries.find(digest) !== undefined
  }

  /** Whether what fast has under this digest must not be replaced or removed for the sake of slow. */
  guards(digest: Digest): boolean {
    return this.#coming.has(digest.key) || (!digest.describesContent && this.has(digest))
  }

  /** Whether an upload directly to slow could overtake blobs that it refers to. */
  couldOvertake({ describesContent }: Digest): boolean {
    const { order } = this.#parts
    return !describesContent && Math.min(this.oldest, order.oldestBeside(this)) !== Number.POSITIVE_INFINITY
  }

  /** Undefined at the bounds of the queue. */
  reserve(digest: Digest, sizeBytes: number): Place | undefined {
    const { maxBytes, maxCount, lasting } = this.#parts
    const { count, bytes } = this.#entries
    this.#isFull = count + this.#comingCount + 1 > maxCount || bytes + this.#comingBytes + sizeBytes > maxBytes
    if (this.#isFull && !this.has(digest)) return undefined
    lasting.hold(digest)
    this.#come(digest, sizeBytes, 1)
    let isOpen = true
    return {
      queued: (call) => this.#add(digest, sizeBytes, call),
      release: () => {
        if (!isOpen) return
        isOpen = false
        this.#come(digest, sizeBytes, -1)
        lasting.release(digest)
        this.goOn()
      },
    }
  }

  /** Whether the upload that came last found no place. */
  get isFull(): boolean {
    return this.#isFull
  }

  /** The words for an upload that finds the queue full. */
  get fullness(): string {
    const { count, bytes } = this.#entries
    return `${waiting(count, bytes)} for the slow store, as many as upload_queue allows`
  }

  /** Forgets an upload because its blob is removed. Resolves when it is not in flight either. */
  async forget(digest: Digest): Promise<void> {
    for (let entry = this.#entries.find(digest); entry !== undefined; entry = this.#entries.find(digest)) {
      if (entry.sending === undefined) this.#end(entry)
      else {
        entry.isAgain = false
        await entry.sending.work
      }
    }
  }

  async health(): Promise<HealthStatus> {
    const { entryCount, sizeBytes, oldestAgeMs } = this.usage
    const { maxBytes, maxCount } = this.#parts
    const lost = this.#lostCount > 0 ? `; uploads lost since the start: ${this.#lostCount}` : ''
    const wait = `${waiting(entryCount, sizeBytes)} for the slow store, for ${timeText(oldestAgeMs)}`
    const { watch } = this.#parts
    const trouble = watch.awaySinceMs === undefined ? this.#backoff.words : `: ${watch.reason}`
    const message = entryCount === 0 ? `nothing waits${lost}` : `${wait}${trouble}${lost}`
    const isNearlyFull = entryCount > 0.9 * maxCount || sizeBytes > 0.9 * maxBytes
    const isFine = lost === '' && (entryCount === 0 || (trouble === '' && !isNearlyFull))
    return { state: isFine ? 'Ok' : 'Warning', message: isNearlyFull ? `${message}; nearly full` : message }
  }

  async close(): Promise<void> {
    for (const stop of this.#stops) stop()
    this.#closing.abort()
    await Promise.all([...this.#sending].map(({ work }) => work))
    await this.#journal.close()
    const { count, bytes } = this.#entries
    const { log, path } = this.#parts
    if (count > 0) log.info('uploads wait for the next start', { store: path, count, bytes })
  }

  /** Begins uploads as long as there are some that may begin. */
  goOn(): void {
    const { order, maxConcurrent, watch, clock } = this.#parts
    if (!order.hasBegun || this.#closing.signal.aborted || watch.awaySinceMs !== undefined) return
    while (this.#sending.size < this.#backoff.permits(maxConcurrent)) {
      const limits = {
        nowMs: clock.now(),
        oldestBeside: order.oldestBeside(this),
        isComing: (key: string) => this.#coming.has(key),
      }
      const entry = this.#entries.next(limits)
      if (entry === undefined) return
      this.#begin(entry)
    }
  }

  #tick(): void {
    const nowMs = this.#parts.clock.now()
    for (const { deadlineMs, giveUp } of this.#sending) if (nowMs >= deadlineMs) giveUp()
    this.goOn()
  }

  #begin(entry: Entry): void {
    const { clock, log } = this.#parts
    const controller = new AbortController()
    const signal = AbortSignal.any([controller.signal, this.#closing.signal])
    const work = this.#send(entry, signal).finally(() => {
      this.#sending.delete(sending)
      entry.sending = undefined
      this.goOn()
    })
    const deadlineMs = clock.now() + PATIENCE_MS + entry.upload.sizeBytes * PATIENCE_MS_PER_BYTE
    const sending: Sending = { work, deadlineMs, giveUp: () => controller.abort() }
    entry.sending = sending
    this.#sending.add(sending)
    inBackground(work, log, 'an upload to the slow store')
  }

  #recover(upload: QueuedUpload): void {
    const isKnown = this.has(upload.digest)
    if (isKnown) return
    this.#parts.lasting.hold(upload.digest)
    this.#entries.recover(upload)
  }

  async #add(digest: Digest, sizeBytes: number, { instanceName }: Call): Promise<void> {
    const { order, clock, lasting } = this.#parts
    const known = this.#entries.find(digest)
    if (known !== undefined) {
      if (!digest.describesContent) this.#entries.renew(known, order.next())
      return known.noted
    }
    lasting.hold(digest)
    const entry = this.#entries.add({ digest, instanceName, sizeBytes, queuedMs: clock.now() }, order.next())
    entry.noted = this.#journal.add(entry.id, entry.upload)
    try {
      await entry.noted
    } catch (error) {
      if (this.#entries.find(digest) === entry && entry.sending === undefined) this.#end(entry)
      throw error
    }
    this.goOn()
  }

  async #send(entry: Entry, signal: AbortSignal): Promise<void> {
    const { digest, instanceName } = entry.upload
    const { fast, log, watch } = this.#parts
    const call = internalCall({ instanceName, signal, log })
    const outcome = await this.#upload(digest, call)
    if (outcome === LATER || this.#closing.signal.aborted) return
    const failure = outcome !== undefined && signal.aborted ? LATE : outcome
    if (failure === undefined) {
      this.#backoff.worked()
      watch.worked()
      this.#doneCount += 1
      if (!entry.isAgain) return this.#end(entry)
      entry.isAgain = false
      return
    }
    const again = internalCall({ instanceName, log })
    const isGone = isStatus(failure, 'NOT_FOUND') || isStatus(failure, 'DATA_LOSS')
    if (isGone && (await missingOf(fast, [digest], again).catch(() => [])).length > 0) {
      return this.#lose(
        entry,
        'an upload that waited for the slow store is lost: the fast store no longer has it',
        failure,
      )
    }
    this.#retriedCount += 1
    this.#entries.failed(entry, this.#parts.clock.now())
    if (REFUSALS.has(failure.code)) {
      if (entry.failedCount < REFUSALS_MAX) return
      return this.#lose(
        entry,
        'an upload that waited for the slow store is given up: the slow store refuses it',
        failure,
      )
    }
    this.#backoff.failed(failure)
    watch.failed(failure)
  }

  /** Returns why the upload failed, LATER when the blob is being replaced, undefined when slow has it. */
  async #upload(digest: Digest, call: Call): Promise<StatusError | undefined | typeof LATER> {
    const { fast, slow } = this.#parts
    try {
      const blob = await fast.get(digest, WHOLE, call)
      // The bytes may be those of a newer result, whose blobs are still to be uploaded.
      if (!digest.describesContent && this.#coming.has(digest.key)) {
        blob.discard()
        return LATER
      }
      const repair = (): Promise<void> => fast.remove(digest, 'wrong', call)
      const checked = digest.describesContent ? blob.verify(digest, { fault: 'backend', repair }) : blob
      return await outcomeOf(slow.put(digest, checked, call))
    } catch (error) {
      return StatusError.from(error)
    }
  }

  #lose(entry: Entry, words: string, error: StatusError): void {
    this.#lostCount += 1
    this.#log.warn(words, { store: this.#parts.path, digest: entry.upload.digest.key, error })
    this.#end(entry)
  }

  #end(entry: Entry): void {
    this.#entries.remove(entry)
    this.#parts.lasting.release(entry.upload.digest)
    this.#journal.end(entry.id)
    this.#parts.order.changed(this)
  }

  #come({ key }: Digest, sizeBytes: number, by: 1 | -1): void {
    const count = (this.#coming.get(key) ?? 0) + by
    if (count === 0) this.#coming.delete(key)
    else this.#coming.set(key, count)
    this.#comingCount += by
    this.#comingBytes += by * sizeBytes
  }
}

const LATER = Symbol('later')
const LATE = new StatusError('DEADLINE_EXCEEDED', 'an upload did not end in minutes')

const waiting = (count: number, bytes: number): string =>
  `${counted(count, 'blob')} of ${sizeText(bytes)} ${count === 1 ? 'waits' : 'wait'}`
