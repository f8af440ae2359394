import type { StatusError } from '../../../base/status-error.js'
import type { SparingLog } from '../../../log/sparing-log.js'
import type { CompressorName } from '../../../reapi/compressor.js'
import type { Digest } from '../../../reapi/digest.js'
import { type Call, callWith } from '../../../rpc/call.js'
import { unlessAborted } from '../../../work/deadline.js'
import { Copy, type CopyTiers } from './copy.js'
import { isNews } from './failures.js'

/** Concurrent copies. They hold at most 128 MiB together, twice that if all are read compressed. */
export const COPIES_MAX = 32

/** Blobs of at most this size may have more copies in flight: they hold 16 MiB, and cover the round trips to a far slow store. */
const SMALL_BYTES = 64 * 1024
const SMALL_COPIES_MAX = 256

/** The copies in flight from slow to fast, one per digest. */
export class Copies {
  readonly #tiers: CopyTiers
  readonly #log: SparingLog
  /** At most COPIES_MAX, and further ones of small blobs. */
  readonly #underWay: Copy[] = []
  /** Shared by all copies, because creating one costs more than copying a small blob. */
  readonly #closing = new AbortController()
  /** Callers that wait for any copy to end. */
  readonly #waiting: (() => void)[] = []

  constructor(tiers: CopyTiers, log: SparingLog) {
    this.#tiers = tiers
    this.#log = log
  }

  /**
   * The copy of a blob, started if there is none. Undefined when too many copies are in flight, or when the one in
   * flight copies bytes that were replaced since.
   */
  of(digest: Digest, call: Call, wantedAs?: CompressorName): Copy | undefined {
    const underWay = this.#find(digest)
    if (underWay !== undefined) return underWay.isCurrent ? underWay : undefined
    const most = digest.sizeBytes <= SMALL_BYTES ? SMALL_COPIES_MAX : COPIES_MAX
    return this.#underWay.length < most ? this.#begin(digest, call, wantedAs) : undefined
  }

  /**
   * Resolves once fast has the blob. Rejects with NOT_FOUND when slow lacks it, else with the reason why fast rejected
   * it.
   */
  async populate(digest: Digest, call: Call): Promise<void> {
    for (;;) {
      const copy = this.of(digest, call)
      if (copy !== undefined) {
        await unlessAborted(copy.opened, call.signal)
        const failure = await unlessAborted(copy.over, call.signal)
        if (failure !== undefined) throw failure
        if (copy.isCurrent) return
      }
      await unlessAborted(this.#room(digest), call.signal)
    }
  }

  /** Called when the blob was written or removed: a copy in flight then has old bytes. */
  outdate(digest: Digest): void {
    this.#find(digest)?.outdate()
  }

  /** Resolves when no copy is in flight that would replace or remove what is written to fast now. */
  async settled(digest: Digest, { signal }: Call): Promise<void> {
    if (!digest.describesContent) this.outdate(digest)
    for (let copy = this.#find(digest); copy?.isCurrent === false; copy = this.#find(digest))
      await unlessAborted(copy.over, signal)
  }

  async close(): Promise<void> {
    this.#closing.abort()
    await Promise.all(this.#underWay.map(({ over }) => over))
  }

  #begin(digest: Digest, call: Call, wantedAs: CompressorName | undefined): Copy {
    const copy = new Copy(digest, this.#tiers, callWith(call, { signal: this.#closing.signal }), wantedAs)
    this.#underWay.push(copy)
    const ended = (failure: StatusError | undefined): void => this.#ended(copy, digest, call, failure)
    copy.over.then(ended, ended)
    return copy
  }

  #ended(copy: Copy, digest: Digest, call: Call, failure: StatusError | undefined): void {
    this.#underWay.splice(this.#underWay.indexOf(copy), 1)
    for (const wake of this.#waiting.splice(0)) wake()
    // A reader reports that slow could not be opened.
    if (failure !== undefined && copy.isOpen && isNews(failure, call))
      this.#log.warn('a copy from the slow store to the fast one failed', { digest: digest.key, error: failure })
  }

  /** Waits for the copy of that blob if there is one, else for any. */
  #room(digest: Digest): Promise<unknown> {
    return this.#find(digest)?.over ?? new Promise<void>((resolve) => this.#waiting.push(resolve))
  }

  #find({ key }: Digest): Copy | undefined {
    return this.#underWay.find((copy) => copy.key === key)
  }
}
