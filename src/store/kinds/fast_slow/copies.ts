import type { CompressorName } from '../../../reapi/compressor.js'
import type { Digest } from '../../../reapi/digest.js'
import { type Call, callWith } from '../../../rpc/call.js'
import type { Blob } from '../../../stream/blob/blob.js'
import { unlessAborted } from '../../../work/deadline.js'
import { Copy, type CopyTiers } from './copy.js'

/** Concurrent copies. They hold at most 128 MiB together. */
export const COPIES_MAX = 32

/** Blobs of at most this size may have more copies in flight: they hold 16 MiB, and cover the round trips to a far slow store. */
const SMALL_BYTES = 64 * 1024
const SMALL_COPIES_MAX = 256

/** The copies in flight from slow to fast, one per digest. */
export class Copies {
  readonly #tiers: CopyTiers
  /** By key. At most COPIES_MAX, and further ones of small blobs. */
  readonly #underWay = new Map<string, Copy>()
  /** Shared by all copies, because creating one costs more than copying a small blob. */
  readonly #closing = new AbortController()
  /** Callers that wait for any copy to end. */
  readonly #waiting: (() => void)[] = []

  constructor(tiers: CopyTiers) {
    this.#tiers = tiers
  }

  /**
   * A read from the copy of a blob, which is started if there is none. Undefined when slow must be asked: too many copies
   * are in flight, or the one in flight cannot be shared. Rejects with the error of slow.
   */
  async read(digest: Digest, call: Call, wantedAs: CompressorName | undefined): Promise<Blob | undefined> {
    const copy = this.#underWay.get(digest.key) ?? this.#begin(digest, call, wantedAs)
    if (copy === undefined || copy.isOutdated) return undefined
    return copy.read(await unlessAborted(copy.opened, call.signal), call)
  }

  /**
   * Resolves once fast has the blob. Rejects with NOT_FOUND when slow lacks it, else with the reason why fast rejected
   * it.
   */
  async populate(digest: Digest, call: Call): Promise<void> {
    for (;;) {
      const copy = this.#underWay.get(digest.key) ?? this.#begin(digest, call)
      const failure = await unlessAborted(copy?.over ?? this.#anyEnd(), call.signal)
      if (copy === undefined || copy.isOutdated) continue
      if (failure !== undefined) throw failure
      return
    }
  }

  /** Called when the blob was written or removed: a copy in flight then has old bytes. */
  outdate({ key }: Digest): void {
    this.#underWay.get(key)?.outdate()
  }

  /** Resolves when no copy is in flight that would replace or remove what is written to fast now. */
  async settled(digest: Digest, { signal }: Call): Promise<void> {
    if (!digest.describesContent) this.outdate(digest)
    const outdated = (): Copy | undefined => {
      const copy = this.#underWay.get(digest.key)
      return copy?.isOutdated ? copy : undefined
    }
    for (let copy = outdated(); copy !== undefined; copy = outdated()) await unlessAborted(copy.over, signal)
  }

  async close(): Promise<void> {
    this.#closing.abort()
    await Promise.all(Array.from(this.#underWay.values(), ({ over }) => over))
  }

  /** Undefined when too many copies are in flight. */
  #begin(digest: Digest, call: Call, wantedAs?: CompressorName): Copy | undefined {
    const most = digest.sizeBytes <= SMALL_BYTES ? SMALL_COPIES_MAX : COPIES_MAX
    if (this.#underWay.size >= most) return undefined
    const copy = new Copy(digest, this.#tiers, callWith(call, { signal: this.#closing.signal }), wantedAs)
    this.#underWay.set(digest.key, copy)
    const ended = (): void => {
      this.#underWay.delete(digest.key)
      for (const wake of this.#waiting.splice(0)) wake()
    }
    copy.over.then(ended, ended)
    return copy
  }

  #anyEnd(): Promise<undefined> {
    return new Promise((resolve) => this.#waiting.push(() => resolve(undefined)))
  }
}
