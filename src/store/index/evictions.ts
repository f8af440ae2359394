import type { Digest } from '../../reapi/digest.js'

/** Evictions that are remembered. A prefix of 96 bits of the hash, and a time in seconds, are 16 bytes each: 1 MiB. */
const EVICTIONS_MAX = 65_536
const PREFIX_WORDS = 3
const WORDS_EACH = 4

/** When blobs were evicted, for the last ones since the start. Takes memory once the first was. */
export class Evictions {
  #ring: Int32Array | undefined
  #added = 0

  /** The first words of the hash. */
  add(first: number, second: number, third: number, timeS: number): void {
    this.#ring ??= new Int32Array(EVICTIONS_MAX * WORDS_EACH)
    const ring = this.#ring
    const at = (this.#added++ % EVICTIONS_MAX) * WORDS_EACH
    ring[at] = first
    ring[at + 1] = second
    ring[at + 2] = third
    ring[at + PREFIX_WORDS] = timeS
  }

  /** In seconds since the epoch, the last time of several. Reads the whole ring at most: 0.1 ms, for people who ask why. */
  timeOf(digest: Digest): number | undefined {
    const ring = this.#ring
    if (ring === undefined) return undefined
    const [first, second, third] = [digest.hashWord(0), digest.hashWord(1), digest.hashWord(2)]
    for (let back = 1; back <= Math.min(this.#added, EVICTIONS_MAX); back++) {
      const at = ((this.#added - back) % EVICTIONS_MAX) * WORDS_EACH
      if (ring[at] === first && ring[at + 1] === second && ring[at + 2] === third)
        return (ring[at + PREFIX_WORDS] as number) >>> 0
    }
    return undefined
  }
}
