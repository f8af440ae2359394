import { readdir, stat } from 'node:fs/promises'
import { setImmediate } from 'node:timers/promises'
import { NEVER } from '../../../../base/cancellation.js'
import { errnoOf } from '../../../../base/errno.js'
import { boundedMap } from '../../../../work/bounded-map.js'
import { ABSENT } from '../../../index/blob-index.js'
import type { Located } from '../located.js'
import type { Pack } from '../packs/pack.js'
import type { Packed } from '../packs/packs.js'
import { encodePlace } from '../records/place.js'
import { type RecordHead, sizeOf } from '../records/record.js'
import { PACK_DEAD_SHARE_MAX } from '../records/room.js'
import { Rounds, type UpkeepParts } from '../rounds.js'

const LOOK_MS = 1000
/** How long a deleted pack may go unnoticed if nothing reads it. */
const PERIOD_MS = 60_000
const RECORDS_AT_A_TIME = 16
/** Blobs after which others get a turn. */
const SLICE = 500
/** Slots after which others get a turn: below a millisecond. */
const SLICE_SLOTS = 1 << 14

/**
 * Keeps the files of packed blobs in order: finds the place of each blob after a start, deletes files that have no blob
 * and drops blobs that have no file, and writes the blobs of files that are mostly dead into others.
 */
export class PackKeeper extends Rounds {
  readonly #parts: UpkeepParts
  #nextSurveyMs = 0

  constructor(parts: UpkeepParts) {
    super(parts, LOOK_MS, 'could not keep the packs of a store in order')
    this.#parts = parts
  }

  protected override async round(): Promise<void> {
    if (this.#parts.clock.now() >= this.#nextSurveyMs) await this.survey()
    for (let next = this.#next(); next !== undefined && !this.isStopped; next = this.#next()) {
      if (!(await this.#empty(next))) return
    }
  }

  /** Brings the places of all packed blobs, the files of packs and the index to agreement. */
  async survey(): Promise<void> {
    const { catalog, clock } = this.#parts
    this.#nextSurveyMs = clock.now() + PERIOD_MS
    await this.#findPlaces()
    const before = catalog.packs.all
    const lengths = await this.#lengths()
    await this.#dropLost(before, lengths)
    if (this.isStopped) return
    for (const [number, sizeBytes] of lengths) {
      // This also makes known what an upload was writing when the process was killed.
      const pack = catalog.packs.pack(number)
      if (!pack.isNew) pack.endBytes = sizeBytes
    }
    await catalog.packs.complete()
  }

  /**
   * Reads the records of the blobs whose place is not known since the start, until a look at all blobs finds none of these. One look does
   * not suffice: the cleaner may move a record while it is read, and a pack whose blobs are not all known would be deleted with them.
   */
  async #findPlaces(): Promise<void> {
    let found = 0
    do found = await this.#findSome()
    while (found > 0 && !this.isStopped)
  }

  /** Returns how many places were not known. */
  async #findSome(): Promise<number> {
    const { catalog, inspection } = this.#parts
    const find = async (located: Located): Promise<void> => {
      const isDamaged = (await catalog.placeOf(located)) === undefined && catalog.isAsLocated(located)
      if (isDamaged) await inspection.damaged(located)
    }
    let count = 0
    let some: Located[] = []
    for await (const slot of this.#packedSlots()) {
      if (this.isStopped) return count
      if (catalog.packs.packOf(slot) === undefined) {
        some.push(catalog.at(slot))
        count++
      }
      if (some.length < SLICE) continue
      await boundedMap(some, RECORDS_AT_A_TIME, find)
      some = []
    }
    await boundedMap(some, RECORDS_AT_A_TIME, find)
    return count
  }

  /** The lengths of the files, by number. */
  async #lengths(): Promise<Map<number, number>> {
    const { layout } = this.#parts.catalog
    const lengths = new Map<number, number>()
    for (const folder of await namesIn(layout.packsPath)) {
      for (const name of await namesIn(`${layout.packsPath}/${folder}`)) {
        const number = layout.packNumber(name)
        if (number === undefined || layout.packPath(number) !== `${layout.packsPath}/${folder}/${name}`) continue
        const stats = await stat(layout.packPath(number)).catch((error: unknown) => {
          if (errnoOf(error) !== 'ENOENT') throw error
        })
        if (stats !== undefined) lengths.set(number, stats.size)
      }
    }
    return lengths
  }

  /** Drops the blobs of packs that are gone or too short: in the first survey all are looked at. */
  async #dropLost(packs: readonly Pack[], lengths: ReadonlyMap<number, number>): Promise<void> {
    const { catalog, inspection } = this.#parts
    const isShort = (pack: Pack): boolean => (lengths.get(pack.number) ?? -1) < pack.endBytes
    const suspected = new Set(packs.filter((pack) => !(catalog.packs.isComplete || pack.isNew) || isShort(pack)))
    if (suspected.size === 0) return
    let count = 0
    for await (const slot of this.#packedSlots()) {
      if (this.isStopped) return
      if (++count % SLICE === 0) await setImmediate()
      const place = catalog.packs.placeOf(slot)
      if (place === undefined || !suspected.has(place.pack)) continue
      const end = place.offset + catalog.index.storedBytesOf(slot)
      // The file may have grown since it was listed.
      if ((lengths.get(place.pack.number) ?? 0) < end) await inspection.look(catalog.at(slot))
    }
  }

  /** The pack whose emptying frees the most; undefined if none is worth it now. */
  #next(): Pack | undefined {
    const all = this.#parts.catalog.packs.all.filter(({ holdCount }) => holdCount === 0)
    const deadBytes = ({ endBytes, liveBytes }: Pack): number => endBytes - liveBytes
    const [dead, bytes] = all.reduce(([d, b], pack) => [d + deadBytes(pack), b + pack.endBytes], [0, 0])
    if (dead <= PACK_DEAD_SHARE_MAX * bytes) return undefined
    const share = (pack: Pack): number => deadBytes(pack) / pack.endBytes
    return all.reduce((best, pack) => (share(pack) > share(best) ? pack : best))
  }

  /** Writes the blobs of a pack anew and deletes it. False when that was not possible now. */
  async #empty(pack: Pack): Promise<boolean> {
    const { catalog, log } = this.#parts
    const { packs, records } = catalog
    const end = await catalog.moves.acquire('a turn to move blobs', NEVER)
    pack.holdCount += 1
    const together = {}
    const written = new Set<Pack>()
    let blobs = 0
    try {
      for await (const slot of this.#packedSlots()) {
        if (this.isStopped) return false
        if (packs.packOf(slot) !== pack) continue
        const to = await this.#move(catalog.at(slot), together)
        if (to !== undefined) written.add(to)
        blobs++
      }
      // The old bytes may go only when the new ones would survive a power loss.
      for (const to of written) await this.#sync(to)
      await records.sync()
    } finally {
      packs.letGo(pack)
      end()
    }
    log.debug('emptied a pack', { number: pack.number, blobs })
    return pack.isDeleted
  }

  /** Writes a blob anew. Returns its new pack; undefined if it was dropped, replaced or evicted meanwhile. */
  async #move(located: Located, together: object): Promise<Pack | undefined> {
    const { catalog, inspection } = this.#parts
    const record = await catalog.records.readPacked(located.location, located.digest)
    const part = await inspection.openPacked(located, { offset: 0, end: located.storedBytes }, located.storedBytes)
    if (record === undefined || part === undefined) return undefined
    const bytes = Buffer.allocUnsafeSlow(located.storedBytes)
    try {
      for (let at = 0; at < bytes.length; ) at += await part.read(bytes.subarray(at), at)
    } finally {
      await part.close()
    }
    const [to] = await catalog.packs.write(together, [bytes])
    if (to === undefined) return undefined
    try {
      // In the same step in which the copy is queued: everything queued later is newer.
      if (catalog.isThere(located)) await this.#record(located, record.head, to)
    } finally {
      catalog.packs.letGo(to.pack)
    }
    return to.pack
  }

  /** Records a new place under the old number, as the cleaner does with a record: it is the same blob. */
  #record(located: Located, head: RecordHead, { pack, offset }: Packed): Promise<void> {
    const { index, packs, records } = this.#parts.catalog
    const { digest, location, storedBytes } = located
    const place = { pack: pack.number, offset }
    const onLocated = (copyLocation: number): void => {
      const slot = index.find(digest)
      if (slot === ABSENT || index.extraOf(slot) !== location) return
      records.release(location, sizeOf(head))
      records.need(copyLocation, sizeOf(head))
      index.setExtra(slot, copyLocation)
      packs.left(slot, storedBytes)
      packs.arrived(slot, place, head)
      packs.verified(slot)
    }
    return records.append({ ...head, bytes: encodePlace(place), onLocated })
  }

  async #sync(pack: Pack): Promise<void> {
    const { packs } = this.#parts.catalog
    if (pack.isDeleted || !(await packs.use(pack))) return
    await pack.sync().finally(() => packs.release(pack))
  }

  /** In slices, because most stores have few packed blobs among many others. */
  async *#packedSlots(): AsyncGenerator<number> {
    const { index } = this.#parts.catalog
    let count = 0
    for (const slot of index.slots()) {
      if (++count % SLICE_SLOTS === 0) await setImmediate()
      if (index.kindOf(slot) === 'packed') yield slot
    }
  }
}

const namesIn = (folder: string): Promise<string[]> =>
  readdir(folder).catch((error: unknown) => {
    if (errnoOf(error) === 'ENOENT') return []
    throw error
  })
