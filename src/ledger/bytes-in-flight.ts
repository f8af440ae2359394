import { StatusError } from '../base/status-error.js'
import { turnMs } from '../base/turn-clock.js'
import type { Holder } from './holder.js'
import type { HeldFor } from './ledger.js'
import { OwnTotal, type SharedLedgerMemory, type Total } from './totals.js'

/** Counted in units of this, because threads share 32-bit counters. */
const UNIT_BYTES = 4096
/** Of all room. So one address may have as much as the largest blob, and a third of that is left to others. */
const ADDRESS_SHARE = 3 / 4
/** How long a look at the disk is believed while bytes come. */
const LOOK_MS = 1000

export interface BytesInFlightOptions {
  /** Length of the largest blob; infinite without a limit. */
  readonly maxBlobBytes: number
  /** Finds what the disk has free, for bytes on disk. Absent for bytes in memory. */
  readonly freeBytes?: (() => Promise<number>) | undefined
  /** The counters of one kind, if several threads write to the store. */
  readonly shared?: SharedLedgerMemory | undefined
}

/** The call that an upload belongs to. Without `held` it is work of the server itself. */
export interface Uploader {
  readonly held?: HeldFor | undefined
  /** Discards an idle upload, of this address if one is given, to make room. False when there is none. */
  readonly giveWay?: ((address?: Holder) => Promise<boolean>) | undefined
}

/** What one address has in flight. */
interface AddressCount {
  /** By this thread. */
  units: number
  /** By all threads. */
  readonly row: Int32Array | undefined
  readonly letGo: () => void
}

/**
 * Bytes of blobs that one store has begun to write, and that are not complete. Clients may have a third more than the
 * largest blob has, and no more than the disk has free; those of one address three quarters of that. Work of the server
 * itself counts as work of all clients. On disk it is never refused: it has bounds of its own, and a worker must get the inputs of an
 * action that are more than its store takes.
 */
export class BytesInFlight {
  readonly #maxUnits: number
  readonly #freeBytes: BytesInFlightOptions['freeBytes']
  readonly #shared: SharedLedgerMemory | undefined
  readonly #total: Total
  readonly #addresses = new Map<Holder, AddressCount>()
  /** What the disk can hold, as of the last look. */
  #diskUnits = Number.POSITIVE_INFINITY
  #lookedMs = Number.NEGATIVE_INFINITY

  constructor({ maxBlobBytes, freeBytes, shared }: BytesInFlightOptions) {
    this.#maxUnits = Math.ceil(Math.ceil(maxBlobBytes / UNIT_BYTES) / ADDRESS_SHARE)
    this.#freeBytes = freeBytes
    this.#shared = shared
    this.#total = shared?.totalOf(0) ?? new OwnTotal()
  }

  /** Of all uploads, each rounded up. */
  get heldBytes(): number {
    return this.#total.heldBytes * UNIT_BYTES
  }

  /** Counts one upload, from its first `growTo`. */
  begin(uploader: Uploader): InFlight {
    return new InFlight(this, uploader)
  }

  /** Looks how much the disk has free. Never rejects: the write that follows then fails by itself, and says why. */
  async look(): Promise<void> {
    if (this.#freeBytes === undefined) return
    this.#lookedMs = turnMs()
    const freeBytes = await this.#freeBytes().catch(() => Number.POSITIVE_INFINITY)
    this.#diskUnits = this.#total.heldBytes + Math.floor(freeBytes / UNIT_BYTES)
  }

  /** Only for `InFlight`. False, with nothing counted, if there is no room. */
  take(address: Holder | undefined, units: number): boolean {
    if (turnMs() - this.#lookedMs >= LOOK_MS) void this.look()
    const isOwnOnDisk = address === undefined && this.#freeBytes !== undefined
    if (this.isFullFor(address, units)) return false
    if (!this.#total.tryAdd(units, isOwnOnDisk ? Number.POSITIVE_INFINITY : this.#boundUnits)) return false
    if (address !== undefined) this.#count(address, units)
    return true
  }

  /** Only for `InFlight`. */
  give(address: Holder | undefined, units: number): void {
    this.#total.give(units)
    if (address !== undefined) this.#count(address, -units)
  }

  /** Whether an address is at its own bound, so that only its own uploads can make room. */
  isFullFor(address: Holder | undefined, units: number): address is Holder {
    return address !== undefined && this.#heldUnits(address) + units > ADDRESS_SHARE * this.#boundUnits
  }

  noRoom(address: Holder | undefined, units: number): NoRoomInFlight {
    const isOwn = this.isFullFor(address, units)
    const bytesOf = (count: number): number => Math.floor(count) * UNIT_BYTES
    const heldBytes = bytesOf(isOwn ? this.#heldUnits(address) : this.#total.heldBytes)
    const maxBytes = bytesOf(isOwn ? ADDRESS_SHARE * this.#boundUnits : this.#boundUnits)
    const whose = isOwn ? 'from the address of this client' : 'of all clients'
    const by = this.#diskUnits < this.#maxUnits ? 'free on the disk of the store' : 'max_bytes of the store'
    const held = `uploads in progress ${whose} hold ${heldBytes} bytes`
    return new NoRoomInFlight(`${held}, expected at most ${maxBytes} (from ${by}): try again when some have ended`)
  }

  get #boundUnits(): number {
    return Math.min(this.#maxUnits, this.#diskUnits)
  }

  #heldUnits(address: Holder): number {
    const known = this.#addresses.get(address)
    const row = known === undefined ? this.#rowOf(address) : known.row
    return row === undefined ? (known?.units ?? 0) : Atomics.load(row, 0)
  }

  #rowOf({ row }: Holder): Int32Array | undefined {
    return row === undefined ? undefined : this.#shared?.row(row)
  }

  #count(address: Holder, units: number): void {
    // Its connections may be gone while uploads that may be resumed are kept.
    const known = this.#addresses.get(address) ?? { units: 0, row: this.#rowOf(address), letGo: address.keep() }
    this.#addresses.set(address, known)
    known.units += units
    if (known.row !== undefined) Atomics.add(known.row, 0, units)
    if (known.units > 0) return
    this.#addresses.delete(address)
    known.letGo()
  }
}

/** The bytes of one upload. */
export class InFlight {
  readonly #all: BytesInFlight
  readonly #address: Holder | undefined
  readonly #giveWay: Uploader['giveWay']
  #units = 0

  /** Only `BytesInFlight` makes one. */
  constructor(all: BytesInFlight, { held, giveWay }: Uploader) {
    this.#all = all
    this.#address = held?.holder.parent
    this.#giveWay = giveWay
  }

  /**
   * Counts that the upload has this many bytes. Undefined if there is room for them. Else resolves once idle uploads were discarded to
   * make room, or rejects with RESOURCE_EXHAUSTED.
   */
  growTo(sizeBytes: number): Promise<void> | undefined {
    const units = Math.ceil(sizeBytes / UNIT_BYTES) - this.#units
    return units <= 0 || this.#take(units) ? undefined : this.#behindIdle(units)
  }

  /** The bytes are a blob now, or are gone. Idempotent. */
  release(): void {
    const units = this.#units
    this.#units = 0
    if (units > 0) this.#all.give(this.#address, units)
  }

  #take(units: number): boolean {
    const isTaken = this.#all.take(this.#address, units)
    if (isTaken) this.#units += units
    return isTaken
  }

  async #behindIdle(units: number): Promise<void> {
    do {
      const whose = this.#all.isFullFor(this.#address, units) ? this.#address : undefined
      if (!(await this.#giveWay?.(whose))) throw this.#all.noRoom(this.#address, units)
    } while (!this.#take(units))
  }
}

/** For a file whose bytes are counted nowhere, such as one that a worker has written. */
export const uncounted = (): InFlight => new BytesInFlight({ maxBlobBytes: Number.POSITIVE_INFINITY }).begin({})

/** Uploads in progress hold all the room that there is for them. */
export class NoRoomInFlight extends StatusError {
  constructor(message: string) {
    super('RESOURCE_EXHAUSTED', message)
  }
}
