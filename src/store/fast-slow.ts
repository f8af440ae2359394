import type { Call } from '../base/call.js'
import type { Clock } from '../base/clock.js'
import type { HealthStatus } from '../base/health.js'
import { isStatus, StatusError } from '../base/status-error.js'
import type { FastSlowOptions } from '../config/config.js'
import type { Digest } from '../reapi/digest.js'
import { join } from '../stream/join.js'
import { discard, isWhole, type Range, type ReadPath, WHOLE, type WritePath } from '../stream/path.js'
import { Spill } from '../stream/spill.js'
import { Tee } from '../stream/tee.js'
import { Fill, Fills } from './fast-slow/fills.js'
import { PopulatedFiles } from './fast-slow/populated-files.js'
import type { StoreKind } from './kind.js'
import type { BlobFiles, Store } from './store.js'

/**
 * Two tiers: a quick store that may lose blobs in front of the one that counts. Uploads go to both, a read that misses in
 * fast is filled there on its way from slow, and slow alone says what exists. Where slow takes no uploads (`noop`, or a
 * direction of `get` or `read_only`) fast is the only holder of what is uploaded: then it must take it, and is asked too.
 */
class FastSlowStore implements Store {
  readonly files: BlobFiles | undefined
  readonly #fast: Store
  readonly #slow: Store
  readonly #slowTakesUploads: boolean
  readonly #fastTakesUploads: boolean
  readonly #fillsFast: boolean
  readonly #bypassBytes: number
  readonly #fills: Fills

  constructor(fast: Store, slow: Store, options: FastSlowOptions, clock: Clock) {
    this.#fast = fast
    this.#slow = slow
    this.#slowTakesUploads = slow.keepsNothing !== true && takesUploads(options.slow_direction)
    this.#fastTakesUploads = takesUploads(options.fast_direction)
    this.#fillsFast = options.fast_direction === 'both' || options.fast_direction === 'get'
    this.#bypassBytes = options.bypass_dedup_threshold_bytes || Number.POSITIVE_INFINITY
    this.#fills = new Fills(clock)
    this.files = fast.files && new PopulatedFiles(fast.files, (digest, call) => this.#populate(digest, call))
  }

  async findMissing(digests: readonly Digest[], call: Call): Promise<Digest[]> {
    if (this.#slow.keepsNothing) return this.#fast.findMissing(digests, call)
    const missing = await this.#slow.findMissing(digests, call)
    if (this.#slowTakesUploads || missing.length === 0) return missing
    return this.#fast.findMissing(missing, call)
  }

  async reader(digest: Digest, range: Range, call: Call): Promise<ReadPath> {
    if (this.#slow.keepsNothing) return this.#fast.reader(digest, range, call)
    const near = await this.#readFast(digest, range, call)
    if (near !== undefined) return near
    const isShared = this.#fillsFast && isWhole(range, digest.sizeBytes) && digest.sizeBytes < this.#bypassBytes
    if (!isShared) return this.#slow.reader(digest, range, call)
    const turn = await this.#fills.turn(digest, call.signal)
    if (turn instanceof Fill) return this.#readAndFill(digest, turn, call)
    const filled = turn === 'filled' ? await this.#readFast(digest, range, call) : undefined
    return filled ?? this.#slow.reader(digest, range, call)
  }

  async writer(digest: Digest, call: Call): Promise<WritePath> {
    if (!this.#slowTakesUploads) {
      if (this.#fastTakesUploads) return this.#fast.writer(digest, call)
      throw new StatusError('PERMISSION_DENIED', `blob ${digest.key} cannot be written: neither tier takes uploads`)
    }
    const required = await this.#slow.writer(digest, call)
    const cache = this.#fastTakesUploads ? await this.#openCache(digest, call) : undefined
    const optional = cache === undefined ? [] : [cache]
    const afterCommit = (dropped: readonly StatusError[]): Promise<void> =>
      this.#forgetOld(digest, dropped, optional, call)
    return [new Tee({ required: [required], optional, afterCommit })]
  }

  async remove(digest: Digest, call: Call): Promise<void> {
    await Promise.all([this.#fast.remove(digest, call), this.#slow.remove(digest, call)])
  }

  async health(call: Call): Promise<HealthStatus> {
    const structName = FastSlowStore.name
    const [fast, slow] = await Promise.all([this.#fast.health(call), this.#slow.health(call)])
    if (slow.state !== 'Ok') return { ...slow, structName, message: `slow: ${slow.message}` }
    if (fast.state === 'Ok') return { state: 'Ok', structName, message: 'both tiers work' }
    // Without fast the store still answers, only slower, unless fast is what holds the blobs.
    if (!this.#slowTakesUploads) return { ...fast, structName, message: `fast: ${fast.message}` }
    return { state: 'Warning', structName, message: `fast: ${fast.message}` }
  }

  /** An action may get a new result: when fast did not take it, the one it may still hold must go. */
  async #forgetOld(
    digest: Digest,
    dropped: readonly StatusError[],
    took: readonly WritePath[],
    call: Call,
  ): Promise<void> {
    for (const error of dropped) this.#notCached(digest, error, call)
    this.#fills.outdate(digest)
    if (dropped.length === took.length) await this.#fast.remove(digest, call)
  }

  /** Fast's path, or undefined when slow has to be asked: a broken cache is a miss. */
  async #readFast(digest: Digest, range: Range, call: Call): Promise<ReadPath | undefined> {
    try {
      return await this.#fast.reader(digest, range, call)
    } catch (error) {
      if (isStatus(error, 'OUT_OF_RANGE') || isStatus(error, 'CANCELLED')) throw error
      if (!isStatus(error, 'NOT_FOUND')) call.log.warn('the fast store failed to read', { digest: digest.key, error })
      return undefined
    }
  }

  /** Slow's path with a fill of fast on the way. */
  async #readAndFill(digest: Digest, fill: Fill, call: Call): Promise<ReadPath> {
    try {
      const path = await this.#slow.reader(digest, WHOLE, call)
      const cache = await this.#openCache(digest, call)
      if (cache === undefined) {
        fill.end(false)
        return path
      }
      const spill = new Spill(cache)
      void spill.outcome.then((error) => this.#endFill(digest, fill, error, call))
      return [...path, spill]
    } catch (error) {
      fill.end(false)
      throw error
    }
  }

  async #endFill(digest: Digest, fill: Fill, error: StatusError | undefined, call: Call): Promise<void> {
    if (error !== undefined && !call.signal.aborted) this.#notCached(digest, error, call)
    try {
      if (fill.isOutdated) await this.#fast.remove(digest, call)
    } catch (failure) {
      call.log.error('the fast store keeps an outdated blob', { digest: digest.key, error: failure })
    }
    fill.end(error === undefined && !fill.isOutdated)
  }

  async #populate(digest: Digest, call: Call): Promise<void> {
    if (this.#slow.keepsNothing) {
      throw new StatusError('NOT_FOUND', `blob ${digest.key} is not in the fast store, and there is none behind it`)
    }
    if (!this.#fillsFast) {
      const found = `blob ${digest.key} is not in the fast store`
      throw new StatusError('FAILED_PRECONDITION', `${found}, and its fast_direction does not let reads fill it`)
    }
    const turn = await this.#fills.turn(digest, call.signal)
    if (turn === 'filled') return
    const fill = turn instanceof Fill ? turn : undefined
    try {
      const path = await this.#slow.reader(digest, WHOLE, call)
      const sink = await this.#openOrDiscard(path, digest, call)
      // Inputs are many and small: joined by hand, a blob costs a third of what pipeline() sets up for it.
      await join([...path, ...sink], call.signal)
      fill?.end(true)
    } catch (error) {
      fill?.end(false)
      throw error
    }
  }

  async #openOrDiscard(path: ReadPath, digest: Digest, call: Call): Promise<WritePath> {
    try {
      return await this.#fast.writer(digest, call)
    } catch (error) {
      discard(path)
      throw error
    }
  }

  async #openCache(digest: Digest, call: Call): Promise<WritePath | undefined> {
    try {
      return await this.#fast.writer(digest, call)
    } catch (error) {
      this.#notCached(digest, StatusError.from(error), call)
      return undefined
    }
  }

  #notCached(digest: Digest, error: StatusError, call: Call): void {
    call.log.warn('the fast store did not take a blob', { digest: digest.key, error })
  }
}

const takesUploads = (direction: FastSlowOptions['fast_direction']): boolean =>
  direction === 'both' || direction === 'update'

export const fastSlow: StoreKind<FastSlowOptions> = {
  build: async (options, context) => {
    const fast = await context.child(options.fast, 'fast')
    const slow = await context.child(options.slow, 'slow')
    return new FastSlowStore(fast, slow, options, context.clock)
  },
}
