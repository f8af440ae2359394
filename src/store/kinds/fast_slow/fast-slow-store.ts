import type { HealthStatus } from '../../../base/health.js'
import { isStatus } from '../../../base/status-error.js'
import {
  BaseStore,
  type BlobEntry,
  type BlobFiles,
  type Outcomes,
  outcomeOf,
  PLAIN,
  type Removal,
  type Store,
  type StoreProperties,
} from '../../../blobs/store.js'
import type { FastSlowOptions } from '../../../config/config.js'
import { SparingLog } from '../../../log/sparing-log.js'
import type { Digest } from '../../../reapi/digest.js'
import { DigestBatch } from '../../../reapi/digest-batch.js'
import { type Call, callWith } from '../../../rpc/call.js'
import type { Blob } from '../../../stream/blob/blob.js'
import { putBoth } from '../../../stream/blob/put-both.js'
import { isWhole, type Range } from '../../../stream/path.js'
import type { BuildContext } from '../../contract/kind.js'
import { Confirmed } from './confirmed.js'
import { Copies } from './copies.js'
import { absentIfAway, isCallers, takenByNeither, unlessAway, warnNotCached } from './failures.js'
import { FastSlowFiles } from './files.js'
import { type Rest, readingOn } from './read-on.js'
import { SlowTouches } from './slow-touches.js'
import { isAway, type SlowWatch } from './slow-watch.js'
import { AcknowledgedUploads } from './uploads/acknowledged.js'
import type { UploadQueue } from './uploads/upload-queue.js'

/** Of each kind of failure of a tier. */
const RATION = { lines: 1, periodMs: 60_000 }

interface Parts extends Pick<BuildContext, 'clock' | 'log' | 'path'> {
  readonly watch: SlowWatch | undefined
  readonly queue: UploadQueue | undefined
}

/**
 * Two tiers: a quick store that may lose blobs in front of the authoritative one. Uploads go to both. A read that
 * misses in fast starts a copy from slow and gets its bytes as they arrive. Only slow decides what exists. If slow
 * accepts no uploads (`noop`, or a direction of `get` or `read_only`), fast is authoritative: uploads must succeed
 * there, and it is asked what exists.
 */
export class FastSlowStore extends BaseStore {
  override readonly files: BlobFiles | undefined
  override readonly properties: StoreProperties
  readonly #fast: Store
  readonly #slow: Store
  readonly #slowTakesUploads: boolean
  readonly #fastTakesUploads: boolean
  readonly #fillsFast: boolean
  readonly #bypassBytes: number
  readonly #copies: Copies
  /** Undefined if asking slow for a blob does not extend its lifetime. */
  readonly #touches: SlowTouches | undefined
  readonly #log: SparingLog
  /** Undefined if blobs in fast never need to be confirmed. */
  readonly #confirmed: Confirmed | undefined
  /** Undefined if calls fail while slow does not work. Otherwise slow rejects with `isAway` meanwhile. */
  readonly #watch: SlowWatch | undefined
  /** Uploads that fast has acknowledged and slow does not have. Undefined if there can be none. */
  readonly #queue: UploadQueue | undefined
  /** Undefined if uploads are acknowledged by slow. */
  readonly #acknowledged: AcknowledgedUploads | undefined

  constructor(fast: Store, slow: Store, options: FastSlowOptions, parts: Parts) {
    super()
    const { clock, log, path, watch, queue } = parts
    this.#watch = watch
    this.#queue = queue
    this.#fast = fast
    this.#slow = slow
    this.#log = new SparingLog(log, clock, RATION)
    this.#slowTakesUploads = !slow.properties.keepsNothing && takesUploads(options.slow_direction)
    this.#fastTakesUploads = takesUploads(options.fast_direction)
    this.#fillsFast = options.fast_direction === 'both' || options.fast_direction === 'get'
    this.#bypassBytes = options.bypass_dedup_threshold_bytes || Number.POSITIVE_INFINITY
    const repair = async (digest: Digest, call: Call): Promise<void> => {
      if (this.#slowTakesUploads) await slow.remove(digest, 'wrong', call)
    }
    this.#copies = new Copies({ fast, slow, log: this.#log, repair })
    if (slow.properties.extendsLifetimes && !slow.properties.keepsNothing)
      this.#touches = new SlowTouches({ slow, clock, log, path })
    if (this.#slowTakesUploads && options.action_result_max_age_s > 0)
      this.#confirmed = new Confirmed(options.action_result_max_age_s * 1000, clock)
    if (queue !== undefined && options.acknowledge === 'fast' && this.#slowTakesUploads)
      this.#acknowledged = new AcknowledgedUploads({
        fast,
        queue,
        copies: this.#copies,
        confirmed: this.#confirmed,
        clock,
      })
    this.files = fast.files && this.#filesOver(fast.files)
    const decides = slow.properties.keepsNothing ? fast : slow
    const { encodings, extendsLifetimes } = decides.properties
    const areInEither = decides === slow && !this.#slowTakesUploads
    const retentionMs = Math.min(
      decides.properties.retentionMs,
      areInEither ? fast.properties.retentionMs : Number.POSITIVE_INFINITY,
    )
    const keepsNothing = fast.properties.keepsNothing && slow.properties.keepsNothing
    const detectsDamage = [fast, slow].every(({ properties: each }) => each.detectsDamage || each.keepsNothing)
    const findsByHash = decides.properties.findsByHash && (!areInEither || fast.properties.findsByHash)
    const takers = [this.#slowTakesUploads ? slow : undefined, this.#fastTakesUploads ? fast : undefined]
    // What is too large for fast is in slow alone.
    const maxBlobBytes = takers.find((tier) => tier !== undefined)?.properties.maxBlobBytes ?? PLAIN.maxBlobBytes
    const facts = { keepsNothing, encodings, detectsDamage, extendsLifetimes, retentionMs, findsByHash, maxBlobBytes }
    this.properties = { ...PLAIN, ...facts }
  }

  async findMissing(digests: DigestBatch, call: Call): Promise<DigestBatch> {
    if (this.#slow.properties.keepsNothing) return this.#fast.findMissing(digests, call)
    const asked = await this.#notWaiting(digests, call)
    if (asked.count === 0) return asked
    const missing = await this.#slow.findMissing(asked, call).catch(unlessAway)
    // What slow alone has is missing while it is away, so that clients upload it again.
    if (missing === undefined) return this.#fast.findMissing(asked, call)
    if (missing.count === 0 || this.#slowTakesUploads) return missing
    return this.#fast.findMissing(missing, call)
  }

  /**
   * Without the blobs that wait in fast for their upload to slow. To be called before slow is asked: an upload that
   * ends meanwhile leaves the queue, and slow may have looked before.
   */
  async #notWaiting(digests: DigestBatch, call: Call): Promise<DigestBatch> {
    const queue = this.#queue
    if (queue === undefined || queue.count === 0) return digests
    const indexes = Array.from({ length: digests.count }, (_, index) => index)
    const waiting = digests.select(indexes.filter((index) => queue.has(digests.at(index))))
    // A damaged blob can be missing in fast.
    const inFast = waiting.except(await this.#fast.findMissing(waiting, call))
    return digests.except(inFast)
  }

  /** Fast finds it sooner. What only slow knows may be there all the same. */
  override async sizeOf(named: Digest, call: Call): Promise<number | undefined> {
    return (await this.#fast.sizeOf(named, call)) ?? this.#slow.sizeOf(named, call)
  }

  /** By the store that decides. What fast evicts is only a copy. */
  override async evictedMs(digest: Digest, call: Call): Promise<number | undefined> {
    const inSlow = await this.#slow.evictedMs(digest, call)
    return inSlow ?? (this.#slowTakesUploads ? undefined : this.#fast.evictedMs(digest, call))
  }

  override lacks(digest: Digest, call: Call): boolean {
    return this.#fast.lacks(digest, call) && this.#slow.lacks(digest, call)
  }

  get(digest: Digest, range: Range, call: Call): Promise<Blob> {
    if (this.#slow.properties.keepsNothing) return this.#fast.get(digest, range, call)
    const read = this.#getOfEither(digest, range, call)
    return this.#watch === undefined ? read : read.catch((error: unknown) => absentIfAway(digest, error))
  }

  async #getOfEither(digest: Digest, range: Range, call: Call): Promise<Blob> {
    // Slow has an older result, or none.
    if (!digest.describesContent && this.#queue?.has(digest)) {
      const queued = await this.#fromFast(digest, range, call)
      if (queued !== undefined) return queued
    }
    if (this.#confirmed !== undefined && !digest.describesContent && !this.#confirmed.has(digest))
      return this.#getConfirmed(this.#confirmed, digest, range, call)
    const encoded = this.#isEncodedBySlow(range) ? await this.#fromSlowEncoded(digest, range, call) : undefined
    if (encoded !== undefined) return encoded
    const near = await this.#fromFast(digest, range, call)
    if (near !== undefined) this.#touches?.served(digest, call)
    return near ?? this.#fromSlow(digest, range, call)
  }

  /** Slow decides, and fast gets a copy. While slow fails, fast is served unconfirmed. */
  async #getConfirmed(confirmed: Confirmed, digest: Digest, range: Range, call: Call): Promise<Blob> {
    try {
      const blob = await this.#fromSlow(digest, range, call)
      if (this.#isCopied(digest, range)) confirmed.add(digest)
      return blob
    } catch (error) {
      if (isStatus(error, 'NOT_FOUND')) await this.#outdateFast(digest, call)
      if (isStatus(error, 'NOT_FOUND') || isCallers(error)) throw error
      const near = await this.#fromFast(digest, range, call)
      if (near === undefined) throw error
      if (!isAway(error)) this.#log.warn('the slow store failed: the fast one is served unconfirmed', { error })
      return near
    }
  }

  async put(digest: Digest, blob: Blob, call: Call): Promise<void> {
    if (!this.#slowTakesUploads) return this.#putFast(digest, blob, call)
    const work = { put: () => this.#fast.put(digest, blob, call), giveUp: () => blob.discard() }
    if (await this.#acknowledged?.put(digest, blob.sizeBytes, work, call)) return
    try {
      const isInFast = await this.#putSlow(digest, blob, call)
      if (isInFast) this.#confirmed?.add(digest)
      if (isInFast) return
    } catch (error) {
      throw this.#acknowledged?.inWords(error) ?? error
    } finally {
      // A copy that began earlier has the old bytes.
      if (!digest.describesContent) this.#copies.outdate(digest)
    }
    await this.#outdateFast(digest, call)
  }

  /** Removes an old blob from fast. A failure is only logged, because the upload is committed in slow. */
  async #outdateFast(digest: Digest, call: Call): Promise<void> {
    if (this.#queue?.guards(digest)) return
    const failure = await outcomeOf(this.#fast.remove(digest, 'unwanted', call))
    if (failure !== undefined) warnNotCached(this.#log, digest, failure, call)
  }

  /** Returns whether fast has the blob too. If not, fast may still hold an older result. */
  async #putSlow(digest: Digest, blob: Blob, call: Call): Promise<boolean> {
    if (!this.#fastTakesUploads) {
      await this.#slow.put(digest, blob, call)
      return false
    }
    const encoding = this.#slow.properties.encodings.find((candidate) => blob.isIn(candidate)) ?? 'IDENTITY'
    const into = (tier: Store) => (half: Blob) => tier.put(digest, half.as('IDENTITY', blob.sizeBytes), call)
    const tiers = { required: into(this.#slow), optional: into(this.#fast) }
    const failure = await putBoth(digest, blob.as(encoding), tiers, call.signal)
    if (failure !== undefined) warnNotCached(this.#log, digest, failure, call)
    return failure === undefined
  }

  /** Uses one call if one tier receives all blobs. */
  override putAll(entries: readonly BlobEntry[], call: Call): Promise<Outcomes> {
    const isForFast = !this.#slowTakesUploads && this.#fastTakesUploads
    return isForFast ? this.#fast.putAll(entries, call) : super.putAll(entries, call)
  }

  /**
   * A damaged blob is removed from fast if fast has it, else from slow. After that, reads use slow, whose copies are
   * verified. A blob under a key cannot be verified, so it is removed from both: slow could copy a wrong one back to
   * fast.
   */
  async remove(digest: Digest, why: Removal, call: Call): Promise<void> {
    this.#confirmed?.delete(digest)
    this.#copies.outdate(digest)
    if (why === 'unwanted' || !digest.describesContent) {
      await this.#queue?.forget(digest)
      await Promise.all([this.#fast.remove(digest, why, call), this.#slow.remove(digest, why, call)])
      return
    }
    const isAbsent = await this.#fast.findMissing(DigestBatch.of([digest]), call).then(
      ({ count }) => count > 0,
      () => true,
    )
    const tier = !isAbsent || this.#slow.properties.keepsNothing ? this.#fast : this.#slow
    await tier.remove(digest, why, call)
  }

  async health(call: Call): Promise<HealthStatus> {
    if (this.#watch !== undefined) return this.#healthOf(await this.#fast.health(call), this.#watch)
    const [fast, slow] = await Promise.all([this.#fast.health(call), this.#slow.health(call)])
    if (slow.state !== 'Ok') return { ...slow, message: `slow: ${slow.message}` }
    if (fast.state === 'Ok') return { state: 'Ok', message: 'both tiers work' }
    // Without fast the store still works, but slower, unless fast is authoritative.
    if (!this.#slowTakesUploads) return { ...fast, message: `fast: ${fast.message}` }
    return { state: 'Warning', message: `fast: ${fast.message}` }
  }

  /** Does not wait for slow, which has a component of its own. */
  #healthOf(fast: HealthStatus, watch: SlowWatch): HealthStatus {
    watch.look()
    const { awaySinceMs, reason } = watch
    if (awaySinceMs === undefined)
      return fast.state === 'Ok'
        ? { state: 'Ok', message: 'both tiers work' }
        : { state: 'Warning', message: `fast: ${fast.message}` }
    if (fast.state === 'Failed') return { ...fast, message: `slow is away, and fast: ${fast.message}` }
    const since = new Date(awaySinceMs).toISOString()
    return { state: 'Warning', message: `the slow store is away since ${since}, fast answers alone: ${reason}` }
  }

  /** Stops the background work. */
  async close(): Promise<void> {
    await Promise.all([this.#copies.close(), this.#touches?.close()])
  }

  /** If fast would have to encode the blob and slow would not, slow is asked first, because that is cheaper. */
  #isEncodedBySlow({ wantedAs }: Range): boolean {
    const hasSlow = wantedAs !== undefined && this.#slow.properties.encodings.includes(wantedAs)
    return hasSlow && !this.#fast.properties.encodings.includes(wantedAs)
  }

  async #fromSlowEncoded(digest: Digest, range: Range, call: Call): Promise<Blob | undefined> {
    try {
      return await this.#slow.get(digest, range, call)
    } catch (error) {
      if (isStatus(error, 'NOT_FOUND') || isAway(error)) return undefined
      throw error
    }
  }

  async #fromSlow(digest: Digest, range: Range, call: Call): Promise<Blob> {
    const copied = this.#isCopied(digest, range) ? await this.#copies.read(digest, call, range.wantedAs) : undefined
    return copied ?? this.#slow.get(digest, range, call)
  }

  /**
   * Reads from fast. Undefined when slow must be asked: a failing cache is a miss, also when it fails in the middle.
   */
  async #fromFast(digest: Digest, range: Range, call: Call): Promise<Blob | undefined> {
    try {
      const blob = await this.#fast.get(digest, range, call)
      if (blob.isAtHand) return blob
      // An encoded blob cannot continue in the middle, and decoding would mean encoding it again.
      if (range.wantedAs !== undefined && blob.isIn(range.wantedAs)) return blob
      return await readingOn(blob, this.#restOf(digest, range, blob.offset, call), call)
    } catch (error) {
      if (isCallers(error)) throw error
      if (!isStatus(error, 'NOT_FOUND')) this.#log.warn('the fast store failed to read', { digest: digest.key, error })
      return undefined
    }
  }

  /** Continues from slow. Impossible for a blob under a key, which may differ there, and after damaged bytes. */
  #restOf(digest: Digest, range: Range, offset: number, call: Call): Rest {
    const { describesContent, sizeBytes } = digest
    return {
      expectedBytes: describesContent ? Math.min(sizeBytes - offset, range.limit) : undefined,
      open: async (failure, handedOut, areRight, signal) => {
        if (isCallers(failure)) throw failure
        this.#log.warn('the fast store failed in the middle of a blob', {
          digest: digest.key,
          handedOut,
          error: failure,
        })
        if (isStatus(failure, 'DATA_LOSS') && this.#slowTakesUploads) await this.#outdateFast(digest, call)
        if (!areRight || (handedOut > 0 && !describesContent)) throw failure
        const inner = callWith(call, { signal })
        const rest = { ...range, offset: offset + handedOut, limit: range.limit - handedOut }
        return this.#fromSlow(digest, handedOut === 0 ? range : rest, inner).catch((error: unknown) => {
          throw isStatus(error, 'NOT_FOUND') || isAway(error) ? failure : error
        })
      },
    }
  }

  /** Whether a read copies the blob to fast. The length of a blob under a key is not known beforehand. */
  #isCopied(digest: Digest, range: Range): boolean {
    const { describesContent, sizeBytes } = digest
    if (this.#queue?.guards(digest)) return false
    if (!describesContent) return this.#fillsFast && isWhole(range, Number.POSITIVE_INFINITY)
    return this.#fillsFast && sizeBytes < this.#bypassBytes && isWhole(range, sizeBytes)
  }

  /** Writes to fast when slow accepts no uploads. */
  async #putFast(digest: Digest, blob: Blob, call: Call): Promise<void> {
    if (this.#fastTakesUploads) return this.#fast.put(digest, blob, call)
    blob.discard()
    throw takenByNeither(digest)
  }

  #filesOver(fastFiles: BlobFiles): BlobFiles {
    return new FastSlowFiles(fastFiles, {
      fast: this.#fast,
      slow: this.#slow,
      copies: this.#copies,
      touches: this.#touches,
      acknowledged: this.#acknowledged,
      log: this.#log,
      slowTakesUploads: this.#slowTakesUploads,
      fastTakesUploads: this.#fastTakesUploads,
      fillsFast: this.#fillsFast,
    })
  }
}

/** Whether a tier with this direction takes what clients upload. */
export const takesUploads = (direction: FastSlowOptions['fast_direction']): boolean =>
  direction === 'both' || direction === 'update'
