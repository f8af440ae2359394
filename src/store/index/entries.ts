import { Digest } from '../../reapi/digest.js'
import { type DigestFunction, functionsByValue } from '../../reapi/digest-function.js'
import { FUNCTION_SHIFT, HIGH_MASK, WORD, wordCountOf } from './probe.js'
import { ACCESSED, EXTRA, type Records, SIZE_HIGH, SIZE_LOW, STORED_HIGH, STORED_LOW } from './records.js'

/** Flags in the free bits of STORED_HIGH of a record. */
export const PINNED = 1 << 24
export const EXECUTABLE = 1 << 25
export const INLINE = 1 << 26
/** In the list of blobs that are kept beyond the minimum retention, and in no order of use. */
export const KEPT = 1 << 27
/** Evicted: no longer in the table, and about to be removed. */
export const DOOMED = 1 << 28
/** In a file beside other blobs. */
export const PACKED = 1 << 29
/** The key is the hash of the content. Without it this is not known: entries of earlier versions lack it. */
export const HASH = 1 << 30

/** Where the bytes of a blob are: in a record of its owner (inline), in a file of its own, or in a file beside others. */
export type BlobKind = 'bytes' | 'file' | 'packed'

/** What the owner of an index says of a new blob. */
interface OwnFields {
  /** A signed 32-bit number. */
  readonly extra: number
  readonly isHash: boolean
}

const FLAG_OF = { bytes: INLINE, file: 0, packed: PACKED } as const

/** Of one digest at a time. To put its hex digits together word by word took 3.5 us. */
const hashBytes = Buffer.alloc(Math.max(...[...functionsByValue.values()].map(({ hexLength }) => hexLength)) / 2)

/** Space charged for a blob without a file of its own, from its length and the length of its hash. */
export type Charge = (storedBytes: number, hashBytes: number) => number

/** The fields of a record that describe its blob, apart from its place in the table and in the order of use. */
export class Entries {
  readonly #records: Records
  readonly #blockSizeBytes: number
  readonly #inlineCharge: Charge
  readonly #packedCharge: Charge

  constructor(records: Records, blockSizeBytes: number, inlineCharge: Charge, packedCharge: Charge) {
    this.#records = records
    this.#blockSizeBytes = blockSizeBytes
    this.#inlineCharge = inlineCharge
    this.#packedCharge = packedCharge
  }

  /** Starts the record of a blob of this length. Only the pin is kept from before. */
  begin(slot: number, storedBytes: number, kind: BlobKind, { extra, isHash }: OwnFields): void {
    const pinned = this.#records.get(slot, STORED_HIGH) & PINNED
    const flags = pinned | FLAG_OF[kind] | (isHash ? HASH : 0)
    this.#records.set(slot, STORED_HIGH, Math.floor(storedBytes / WORD) | flags)
    this.#records.set(slot, STORED_LOW, storedBytes | 0)
    this.#records.set(slot, EXTRA, extra)
  }

  storedBytesOf(slot: number): number {
    return (this.#records.get(slot, STORED_HIGH) & HIGH_MASK) * WORD + (this.#records.get(slot, STORED_LOW) >>> 0)
  }

  kindOf(slot: number): BlobKind {
    const flags = this.#records.get(slot, STORED_HIGH)
    if ((flags & INLINE) !== 0) return 'bytes'
    return (flags & PACKED) === 0 ? 'file' : 'packed'
  }

  /** Space that counts towards the limit: a charge, or the length rounded up to blocks, doubled by an executable copy. */
  occupied(slot: number): number {
    if (this.has(slot, INLINE)) return this.#inlineCharge(this.storedBytesOf(slot), this.hashBytesOf(slot))
    if (this.has(slot, PACKED)) return this.#packedCharge(this.storedBytesOf(slot), this.hashBytesOf(slot))
    return this.rounded(this.storedBytesOf(slot)) * (this.has(slot, EXECUTABLE) ? 2 : 1)
  }

  rounded(bytes: number): number {
    return Math.ceil(bytes / this.#blockSizeBytes) * this.#blockSizeBytes
  }

  /** In seconds since the epoch. */
  accessedOf(slot: number): number {
    return this.#records.get(slot, ACCESSED) >>> 0
  }

  /** Returns the previous value. */
  setAccessed(slot: number, accessedS: number): number {
    return this.#records.exchange(slot, ACCESSED, accessedS)
  }

  has(slot: number, flag: number): boolean {
    return (this.#records.get(slot, STORED_HIGH) & flag) !== 0
  }

  set(slot: number, flag: number, isSet: boolean): void {
    const word = this.#records.get(slot, STORED_HIGH)
    this.#records.set(slot, STORED_HIGH, isSet ? word | flag : word & ~flag)
  }

  hashBytesOf(slot: number): number {
    return wordCountOf(this.#records.get(slot, SIZE_HIGH)) * 4
  }

  digestOf(slot: number): Digest {
    const sizeHigh = this.#records.get(slot, SIZE_HIGH)
    const count = wordCountOf(sizeHigh)
    for (let word = 0; word < count; word++) hashBytes.writeInt32BE(this.#records.hashWord(slot, word), word * 4)
    return Digest.ofHashBytes(hashBytes, 0, functionOf(sizeHigh >>> FUNCTION_SHIFT), { sizeBytes: this.sizeOf(slot) })
  }

  /** The size in the digest. */
  sizeOf(slot: number): number {
    return (this.#records.get(slot, SIZE_HIGH) & HIGH_MASK) * WORD + (this.#records.get(slot, SIZE_LOW) >>> 0)
  }
}

const functionOf = (value: number): DigestFunction => {
  const found = functionsByValue.get(value)
  if (found === undefined) throw new RangeError(`${value} is not the number of a digest function`)
  return found
}
