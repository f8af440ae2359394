import type { Call } from '../base/call.js'
import type { Clock } from '../base/clock.js'
import type { HealthStatus } from '../base/health.js'
import { isStatus, StatusError } from '../base/status-error.js'
import type { FastSlowOptions } from '../config/config.js'
import type { Digest } from '../reapi/digest.js'
import type { DigestBatch } from '../reapi/digest-batch.js'
import { join } from '../stream/join.js'
import { discard, isWhole, type Range, type ReadPath, WHOLE, type WritePath } from '../stream/path.js'
import { Spill } from '../stream/spill.js'
import { Tee } from '../stream/tee.js'
import { CacheTier } from './fast-slow/cache-tier.js'
import { Fill, Fills } from './fast-slow/fills.js'
import { asCompressed, asKept, type Tiers } from './fast-slow/forms.js'
import { PopulatedFiles } from './fast-slow/populated-files.js'
import type { StoreKind } from './kind.js'
import {
  type BlobFiles,
  type CompressedBlobs,
  findMissingIn,
  readBytes,
  type Store,
  writeBlobs,
  writeBytes,
} from './store.js'

/**
 * Two tiers: a quick store that may lose blobs in front of the one that counts. Uploads go to both, a read that misses in
 * fast is filled there on its way from slow, and slow alone says what exists. Where slow takes no uploads (`noop`, or a
 * direction of `get` or `read_only`) fast is the only holder of what is uploaded: then it must take it, and is asked too.
 */
class FastSlowStore implements Store {
  readonly files: BlobFiles | undefined
  readonly compressed: CompressedBlobs | undefined
  /** Where one tier takes all that is uploaded. */
  readonly writeBlobs?: NonNullable<Store['writeBlobs']>
  readonly #fast: Store
  readonly #slow: Store
  readonly #slowTakesUploads: boolean
  readonly #fastTakesUploads: boolean
  readonly #fillsFast: boolean
  readonly #bypassBytes: number
  readonly #fills: Fills
  readonly #cache: CacheTier
  readonly #kept: Tiers

  constructor(fast: Store, slow: Store, options: FastSlowOptions, clock: Clock) {
    this.#fast = fast
    this.#slow = slow
    this.#slowTakesUploads = slow.keepsNothing !== true && takesUploads(options.slow_direction)
    this.#fastTakesUploads = takesUploads(options.fast_direction)
    this.#fillsFast = options.fast_direction === 'both' || options.fast_direction === 'get'
    this.#bypassBytes = options.bypass_dedup_threshold_bytes || Number.POSITIVE_INFINITY
    this.#fills = new Fills(clock)
    this.#cache = new CacheTier(fast, this.#fills)
    this.#kept = { fast: asKept(fast), slow: asKept(slow) }
    this.files = fast.files && new PopulatedFiles(fast.files, (digest, call) => this.#populate(digest, call))
    this.compressed = this.#compressedBlobs()
    if (!this.#slowTakesUploads && this.#fastTakesUploads)
      this.writeBlobs = (blobs, call) => writeBlobs(fast, blobs, call)
  }

  async findMissing(digests: readonly Digest[], call: Call): Promise<Digest[]> {
    if (this.#slow.keepsNothing) return this.#fast.findMissing(digests, call)
    const missing = await this.#slow.findMissing(digests, call)
    if (this.#slowTakesUploads || missing.length === 0) return missing
    return this.#fast.findMissing(missing, call)
  }

  async findMissingIn(batch: DigestBatch, call: Call): Promise<DigestBatch> {
    if (this.#slow.keepsNothing) return findMissingIn(this.#fast, batch, call)
    const missing = await findMissingIn(this.#slow, batch, call)
    if (this.#slowTakesUploads || missing.count === 0) return missing
    return findMissingIn(this.#fast, missing, call)
  }

  async reader(digest: Digest, range: Range, call: Call): Promise<ReadPath> {
    if (this.#slow.keepsNothing) return this.#fast.reader(digest, range, call)
    if (isWhole(range, digest.sizeBytes)) return this.#readWhole(this.#kept, digest, call)
    const near = await this.#fromFast(digest, call, () => this.#fast.reader(digest, range, call))
    return near ?? this.#slow.reader(digest, range, call)
  }

  writer(digest: Digest, call: Call): Promise<WritePath> {
    return this.#write(this.#kept, digest, call)
  }

  async readBytes(digest: Digest, maxBytes: number, call: Call): Promise<Buffer> {
    if (this.#slow.keepsNothing) return readBytes(this.#fast, digest, maxBytes, call)
    const fromFast = () => this.#fromFast(digest, call, () => readBytes(this.#fast, digest, maxBytes, call))
    const near = await fromFast()
    if (near !== undefined) return near
    if (!this.#fillsWith(digest)) return readBytes(this.#slow, digest, maxBytes, call)
    const turn = await this.#fills.turn(digest, call.signal)
    if (turn instanceof Fill) return this.#readBytesAndFill(digest, turn, maxBytes, call)
    return (turn === 'filled' ? await fromFast() : undefined) ?? readBytes(this.#slow, digest, maxBytes, call)
  }

  async writeBytes(digest: Digest, bytes: Buffer, call: Call): Promise<void> {
    if (!this.#slowTakesUploads) {
      this.#checkHolder(digest)
      return writeBytes(this.#fast, digest, bytes, call)
    }
    await writeBytes(this.#slow, digest, bytes, call)
    if (!this.#fastTakesUploads) return this.#cache.forgetOld(digest, [], 0, call)
    const failure = await this.#cache.take(digest, bytes, call)
    await this.#cache.forgetOld(digest, failure === undefined ? [] : [failure], 1, call)
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

  /** Blobs are served compressed where the tier that counts keeps them so. */
  #compressedBlobs(): CompressedBlobs | undefined {
    const kept = this.#slow.keepsNothing ? this.#fast.compressed : this.#slow.compressed
    if (kept === undefined) return undefined
    const { compressor } = kept
    // What slow checks on its way in need not be checked for fast once more.
    const fast = asCompressed(this.#fast, compressor, { checksUploads: !this.#slowTakesUploads })
    const tiers = { fast, slow: kept }
    const isInBoth = this.#fast.compressed?.compressor === compressor
    return {
      compressor,
      reader: (digest, call) => {
        if (this.#slow.keepsNothing) return fast.reader(digest, call)
        return isInBoth ? this.#readWhole(tiers, digest, call) : this.#readCompressed(tiers, digest, call)
      },
      writer: (digest, call) => this.#write(tiers, digest, call),
    }
  }

  /** Where fast would have to compress, slow is asked first: a file read is cheaper. */
  async #readCompressed({ fast, slow }: Tiers, digest: Digest, call: Call): Promise<ReadPath> {
    try {
      return await slow.reader(digest, call)
    } catch (error) {
      if (!isStatus(error, 'NOT_FOUND')) throw error
      return fast.reader(digest, call)
    }
  }

  async #readWhole(tiers: Tiers, digest: Digest, call: Call): Promise<ReadPath> {
    const fromFast = () => this.#fromFast(digest, call, () => tiers.fast.reader(digest, call))
    const near = await fromFast()
    if (near !== undefined) return near
    if (!this.#fillsWith(digest)) return tiers.slow.reader(digest, call)
    const turn = await this.#fills.turn(digest, call.signal)
    if (turn instanceof Fill) return this.#readAndFill(tiers, digest, turn, call)
    return (turn === 'filled' ? await fromFast() : undefined) ?? tiers.slow.reader(digest, call)
  }

  async #write({ fast, slow }: Tiers, digest: Digest, call: Call): Promise<WritePath> {
    if (!this.#slowTakesUploads) {
      this.#checkHolder(digest)
      return fast.writer(digest, call)
    }
    const required = await slow.writer(digest, call)
    const cache = this.#fastTakesUploads ? await this.#cache.open(fast, digest, call) : undefined
    const optional = cache === undefined ? [] : [cache]
    const afterCommit = (dropped: readonly StatusError[]): Promise<void> =>
      this.#cache.forgetOld(digest, dropped, optional.length, call)
    return [new Tee({ required: [required], optional, afterCommit })]
  }

  /** Where slow takes no uploads, fast has to. */
  #checkHolder(digest: Digest): void {
    if (this.#fastTakesUploads) return
    throw new StatusError('PERMISSION_DENIED', `blob ${digest.key} cannot be written: neither tier takes uploads`)
  }

  /** Whether a read of the whole blob fills fast. */
  #fillsWith({ sizeBytes }: Digest): boolean {
    return this.#fillsFast && sizeBytes < this.#bypassBytes
  }

  /** What fast has, or undefined when slow has to be asked: a broken cache is a miss. */
  async #fromFast<T>(digest: Digest, call: Call, read: () => Promise<T>): Promise<T | undefined> {
    try {
      return await read()
    } catch (error) {
      if (isStatus(error, 'OUT_OF_RANGE') || isStatus(error, 'CANCELLED')) throw error
      // Where fast alone may hold the blob, slow's NOT_FOUND would hide that fast has it and cannot give it now.
      if (!this.#slowTakesUploads && isStatus(error, 'RESOURCE_EXHAUSTED')) throw error
      if (!isStatus(error, 'NOT_FOUND')) call.log.warn('the fast store failed to read', { digest: digest.key, error })
      return undefined
    }
  }

  /** Slow's path with a fill of fast on the way. */
  async #readAndFill({ fast, slow }: Tiers, digest: Digest, fill: Fill, call: Call): Promise<ReadPath> {
    try {
      const path = await slow.reader(digest, call)
      const cache = await this.#cache.open(fast, digest, call)
      if (cache === undefined) {
        fill.end(false)
        return path
      }
      const spill = new Spill(cache)
      void spill.outcome.then((error) => this.#cache.endFill(digest, fill, error, call))
      return [...path, spill]
    } catch (error) {
      fill.end(false)
      throw error
    }
  }

  async #readBytesAndFill(digest: Digest, fill: Fill, maxBytes: number, call: Call): Promise<Buffer> {
    try {
      const bytes = await readBytes(this.#slow, digest, maxBytes, call)
      await this.#cache.endFill(digest, fill, await this.#cache.take(digest, bytes, call), call)
      return bytes
    } catch (error) {
      fill.end(false)
      throw error
    }
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
