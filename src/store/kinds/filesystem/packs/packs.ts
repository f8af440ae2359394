import { randomInt } from 'node:crypto'
import { dirname } from 'node:path'
import type { FolderSyncs } from '../files/folder-syncs.js'
import { isGone, type Unlinker } from '../files/unlinker.js'
import type { Layout } from '../layout.js'
import type { Place } from '../records/place.js'
import type { RecordHead } from '../records/record.js'
import { Pack } from './pack.js'

/** A longer file would keep many dead bytes for few blobs, and take long to be written anew. */
const PACK_BYTES_MAX = 256 * 1024 * 1024

/** Descriptors that stay open for the next reader. */
const IDLE_MAX = 64

const NUMBERS = 2 ** 48 - 1

export interface PacksParts {
  readonly layout: Layout
  /** Absent where packs are only read. */
  readonly unlinker?: Unlinker
  /** Set when what is written must survive a power loss. */
  readonly syncs?: FolderSyncs | undefined
}

/** Bytes of a blob, where they were written. */
export interface Packed {
  readonly pack: Pack
  readonly offset: number
}

/** What the record of a blob says about its bytes. */
type PackedContent = Pick<RecordHead, 'storedBytes' | 'checksum'>

/**
 * The files of blobs that were put together, and where each of these blobs is. The place of a blob is in its record of
 * the log; here it is by index slot, once it was written or read in this run.
 */
export class Packs {
  readonly #parts: PacksParts
  readonly #known = new Map<number, Pack>()
  readonly #open = new WeakMap<object, Pack>()
  /** By slot. */
  readonly #packs: (Pack | undefined)[] = []
  #offsets = new Uint32Array(0)
  /** By slot: the CRC-32 of the blob, as its record has it. */
  #checksums = new Uint32Array(0)
  /** By slot: the generation of the pack in which the blob was intact. */
  #verified = new Uint32Array(0)
  readonly #idle: Pack[] = []
  /** Removals of blobs whose pack was not known, so that none is deleted before they are in the log. */
  #unknownRemovals: Promise<unknown> = Promise.resolve()
  /** Whether all blobs of earlier runs have a place here. Until then no pack of an earlier run is deleted. */
  isComplete = false

  constructor(parts: PacksParts) {
    this.#parts = parts
  }

  get all(): readonly Pack[] {
    return [...this.#known.values()]
  }

  pack(number: number): Pack {
    const known = this.#known.get(number)
    if (known !== undefined) return known
    const pack = new Pack(number, this.#parts.layout.packPath(number), false)
    this.#known.set(number, pack)
    return pack
  }

  isKnown(number: number): boolean {
    return this.#known.has(number)
  }

  /**
   * Writes blobs side by side, behind those that were written with the same `together`. The caller must hold the packs
   * no longer (`letGo`) once the index has the blobs.
   */
  async write(together: object, buffers: readonly Buffer[]): Promise<readonly Packed[]> {
    const sizeBytes = buffers.reduce((sum, { length }) => sum + length, 0)
    const pack = await this.#openFor(together, sizeBytes)
    const begin = pack.reserve(sizeBytes)
    try {
      await pack.write(buffers, begin, this.#parts.syncs !== undefined)
      pack.named ??= this.#syncFolders(pack)
      await pack.named
    } catch (error) {
      this.letGo(pack)
      throw error
    } finally {
      this.release(pack)
    }
    let offset = begin
    return buffers.map(({ length }) => {
      offset += length
      return { pack, offset: offset - length }
    })
  }

  /** Whether a pack waits for more blobs of `together`. */
  isBegun(together: object): boolean {
    return this.#open.get(together)?.isSealed === false
  }

  letGo(pack: Pack): void {
    pack.holdCount -= 1
    this.#deleteIfEmpty(pack)
  }

  /** Opens the file of a pack until `release`. False if it is gone. */
  async use(pack: Pack): Promise<boolean> {
    try {
      await pack.use()
      return true
    } catch (error) {
      this.#forgetRead(pack)
      if (isGone(error)) return false
      throw error
    }
  }

  /** A service thread is not told of the packs that the owner deletes, so it keeps none that it does not read. */
  #forgetRead(pack: Pack): boolean {
    const isOver = this.#parts.unlinker === undefined && !pack.isUsed
    if (isOver) this.#known.delete(pack.number)
    return isOver
  }

  release(pack: Pack): void {
    pack.release()
    if (this.#forgetRead(pack)) void pack.close()
    if (pack.isUsed || pack.isDeleted || !this.#known.has(pack.number) || this.#idle.includes(pack)) return
    this.#idle.push(pack)
    if (this.#idle.length <= IDLE_MAX) return
    const oldest = this.#idle.shift()
    // A used one is queued again at its release.
    if (oldest?.isUsed === false) void oldest.close()
  }

  /** Undefined if the record of the blob has not been read in this run. */
  placeOf(slot: number): Packed | undefined {
    const pack = this.#packs[slot]
    return pack && { pack, offset: this.#offsets[slot] as number }
  }

  packOf(slot: number): Pack | undefined {
    return this.#packs[slot]
  }

  /** Of a blob whose place is known. */
  checksumOf(slot: number): number {
    return this.#checksums[slot] as number
  }

  arrived(slot: number, { pack: number, offset }: Place, { storedBytes, checksum }: PackedContent): void {
    const pack = this.pack(number)
    this.#packs[slot] = pack
    if (slot >= this.#offsets.length) this.#grow(slot)
    this.#offsets[slot] = offset
    this.#checksums[slot] = checksum
    this.#verified[slot] = 0
    pack.liveBytes += storedBytes
  }

  /** The index no longer has a blob, or has it elsewhere. Its pack is deleted with its last blob, once `recorded`. */
  left(slot: number, storedBytes: number, recorded: Promise<unknown> = Promise.resolve()): void {
    const pack = this.#packs[slot]
    if (pack === undefined) {
      this.#unknownRemovals = Promise.allSettled([this.#unknownRemovals, recorded])
      return
    }
    this.#packs[slot] = undefined
    pack.liveBytes -= storedBytes
    pack.holdCount += 1
    const letGo = (): void => this.letGo(pack)
    recorded.then(letGo, letGo)
  }

  isVerified(slot: number): boolean {
    return this.#verified[slot] === this.#packs[slot]?.generation
  }

  verified(slot: number): void {
    if (slot < this.#verified.length) this.#verified[slot] = this.#packs[slot]?.generation ?? 0
  }

  /** All blobs of earlier runs have a place: packs without one can go. */
  async complete(): Promise<void> {
    await this.#unknownRemovals
    this.isComplete = true
    for (const pack of this.#known.values()) this.#deleteIfEmpty(pack)
  }

  async close(): Promise<void> {
    await Promise.all(this.all.map((pack) => pack.close()))
  }

  /** The pack to add to, held and in use. */
  async #openFor(together: object, sizeBytes: number): Promise<Pack> {
    const open = this.#open.get(together)
    if (open === undefined || open.isSealed || open.endBytes + sizeBytes > PACK_BYTES_MAX) return this.#begin(together)
    try {
      return await this.#hold(open)
    } catch (error) {
      // Somebody has deleted it.
      if (isGone(error)) return this.#begin(together)
      throw error
    }
  }

  async #hold(pack: Pack): Promise<Pack> {
    pack.holdCount += 1
    try {
      await pack.use()
      return pack
    } catch (error) {
      this.letGo(pack)
      throw error
    }
  }

  #begin(together: object): Promise<Pack> {
    const number = randomInt(NUMBERS)
    const pack = new Pack(number, this.#parts.layout.packPath(number), true)
    this.#known.set(number, pack)
    this.#open.set(together, pack)
    return this.#hold(pack)
  }

  async #syncFolders({ path }: Pack): Promise<void> {
    const { syncs } = this.#parts
    if (syncs === undefined) return
    for (let folder = dirname(path), at = 0; at < 3; folder = dirname(folder), at++) await syncs.sync(folder)
  }

  #deleteIfEmpty(pack: Pack): void {
    if (pack.liveBytes > 0 || pack.holdCount > 0 || pack.isDeleted) return
    if (!pack.isNew && !this.isComplete) return
    pack.isDeleted = true
    pack.isSealed = true
    this.#known.delete(pack.number)
    if (!pack.isUsed) void pack.close()
    void this.#parts.unlinker?.unlink(pack.path)
  }

  #grow(slot: number): void {
    const length = 2 * slot + 1024
    this.#offsets = grown(this.#offsets, length)
    this.#checksums = grown(this.#checksums, length)
    this.#verified = grown(this.#verified, length)
  }
}

const grown = (values: Uint32Array, length: number): Uint32Array<ArrayBuffer> => {
  const longer = new Uint32Array(length)
  longer.set(values)
  return longer
}
