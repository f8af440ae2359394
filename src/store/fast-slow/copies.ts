import { type Call, callWith } from '../../base/call.js'
import { Code, type StatusError } from '../../base/status-error.js'
import { unlessAborted } from '../../base/work/deadline.js'
import type { CompressorName } from '../../reapi/compressor.js'
import type { Digest } from '../../reapi/digest.js'
import { Copy, type CopyTiers } from './copy.js'

/** Copies under way at a time: with what each keeps in memory at most 128 MiB, twice that where all are read compressed. */
export const COPIES_MAX = 32

/** The copies under way from slow to fast, one a digest. */
export class Copies {
  readonly #tiers: CopyTiers
  /** A list, which is short: a Map that is filled and emptied all the time leaves tables that keep what was in them from the collector. */
  readonly #underWay: Copy[] = []
  /** One for all copies: to make one costs more than to copy a small blob. */
  readonly #closing = new AbortController()
  /** Those who wait for one of the copies to be over. */
  readonly #waiting: (() => void)[] = []

  constructor(tiers: CopyTiers) {
    this.#tiers = tiers
  }

  /**
   * The copy of a blob, begun if there is none. Undefined when as many as may be are under way, or when the one under way
   * brings what was replaced meanwhile.
   */
  of(digest: Digest, call: Call, wantedAs?: CompressorName): Copy | undefined {
    const underWay = this.#find(digest)
    if (underWay !== undefined) return underWay.isCurrent ? underWay : undefined
    return this.#underWay.length < COPIES_MAX ? this.#begin(digest, call, wantedAs) : undefined
  }

  /** Resolves once fast has the blob; rejects with NOT_FOUND when slow has not, and with why fast did not take it. */
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

  /** Says that the blob was written anew or removed: a copy under way brings the bytes of before. */
  outdate(digest: Digest): void {
    this.#find(digest)?.outdate()
  }

  async close(): Promise<void> {
    this.#closing.abort()
    await Promise.all(this.#underWay.map(({ over }) => over))
  }

  #begin(digest: Digest, call: Call, wantedAs: CompressorName | undefined): Copy {
    const copy = new Copy(digest, this.#tiers, callWith(call, { signal: this.#closing.signal }), wantedAs)
    this.#underWay.push(copy)
    void copy.over.then((failure) => {
      this.#underWay.splice(this.#underWay.indexOf(copy), 1)
      for (const wake of this.#waiting.splice(0)) wake()
      if (failure !== undefined) notCached(digest, failure, call)
    })
    return copy
  }

  /** Waits for the copy of that blob where there is one, else for any. */
  #room(digest: Digest): Promise<unknown> {
    return this.#find(digest)?.over ?? new Promise<void>((resolve) => this.#waiting.push(resolve))
  }

  #find({ key }: Digest): Copy | undefined {
    return this.#underWay.find((copy) => copy.key === key)
  }
}

/** What fast did not take is a word in the log: no call fails for it. What slow has not got it says itself. */
export const notCached = (digest: Digest, error: StatusError, { signal, log }: Call): void => {
  const isNews = !signal.aborted && error.code !== Code.NOT_FOUND && error.code !== Code.CANCELLED
  if (isNews) log.warn('the fast store did not take a blob', { digest: digest.key, error })
}
