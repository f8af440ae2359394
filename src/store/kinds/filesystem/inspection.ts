import type { Stats } from 'node:fs'
import { stat } from 'node:fs/promises'
import { crc32 } from 'node:zlib'
import { fileFailure } from '../../../base/errno.js'
import type { Log } from '../../../log/log.js'
import type { Hasher } from '../../../reapi/digest-function.js'
import { STAGE_BYTES } from '../../../stream/path.js'
import { boundedMap } from '../../../work/bounded-map.js'
import type { Catalog } from './catalog.js'
import { OpenFile } from './files/open-file.js'
import { isGone } from './files/unlinker.js'
import type { Located } from './located.js'
import { PackPart } from './packs/pack-part.js'
import type { Packed } from './packs/packs.js'
import type { ReadCatalog } from './read-catalog.js'

const STATS_AT_A_TIME = 16

/**
 * Larger records would evict many small ones from memory. A read of 1 KiB from memory takes less than half of the CPU.
 */
const LARGEST_RECENT_BYTES = 16 * 1024
/** Memory of an entry besides its bytes: buffer, key and map entry. */
const RECENT_OVERHEAD_BYTES = 400

/** Called with a number of bytes before they are read. */
type Pace = (bytes: number) => Promise<void>

/** A file of the right length, as it was when it was opened. */
export interface Opened {
  readonly file: OpenFile
  readonly stats: Stats
}

/** A range of bytes. */
interface Extent {
  readonly offset: number
  readonly end: number
}

/**
 * `changed`: the blob was replaced or removed during the check, or its file is gone, so nothing is known about it.
 * `unexplained`: the bytes are those that were written, but not those of the digest, and the key may be one that is no hash of its content.
 */
export type CheckOutcome = 'right' | 'damaged' | 'changed' | 'unexplained'

/** Whether the bytes are those that were written. */
export const isIntact = (outcome: CheckOutcome): boolean => outcome === 'right' || outcome === 'unexplained'

/** How a blob is read for a check. */
export interface CheckOptions {
  readonly pace?: Pace
  /** Compares the bytes with the digest, too, whatever is known of the key. */
  readonly hashes?: boolean
}

/**
 * Checks blobs while they are read or listed. A blob whose file is gone, truncated or damaged is removed from the
 * catalog, so that it becomes a miss.
 */
export class Inspection {
  readonly #catalog: ReadCatalog
  readonly #log: Log

  constructor(catalog: ReadCatalog, log: Log) {
    this.#catalog = catalog
    this.#log = log
  }

  /** Checks the length of every file, because a power loss may have truncated those written last. */
  async lookAtAll({ index, at }: Pick<Catalog, 'index' | 'at'>): Promise<void> {
    const files = [...index.slots()].filter((slot) => index.kindOf(slot) === 'file')
    await boundedMap(files, STATS_AT_A_TIME, (slot) => this.look(at(slot)))
  }

  /** Drops a blob whose file is gone or has another length. A file whose `stat` fails stays. */
  async look(located: Located): Promise<void> {
    const place = located.kind === 'packed' ? await this.#catalog.placeOf(located) : undefined
    try {
      const { size } = await stat(place?.pack.path ?? located.path)
      const isWhole = place === undefined ? size === located.storedBytes : size >= place.offset + located.storedBytes
      if (!isWhole) await this.#catalog.dropDamaged(located, 'gone')
    } catch (error) {
      if (isGone(error)) await this.#catalog.dropDamaged(located, 'gone')
    }
  }

  /** The bytes of a small blob. A damaged record is dropped and becomes a miss. */
  async readInline(located: Located): Promise<Buffer | undefined> {
    const { digest, location } = located
    const recent = this.#catalog.recent.get(digest.key)
    // Must be the same buffer as last time: callers recognise its content by the buffer object.
    if (recent?.location === location) return recent.bytes
    const bytes = await this.#readRecord(located)
    if (bytes !== undefined && bytes.length <= LARGEST_RECENT_BYTES && this.#catalog.isThere(located)) {
      this.#catalog.recent.set(digest.key, { location, bytes }, bytes.length + RECENT_OVERHEAD_BYTES)
    }
    return bytes
  }

  /** Compares the record of a small blob with its checksum and its digest. */
  async checkInline(located: Located): Promise<CheckOutcome> {
    const bytes = await this.#readRecord(located)
    if (bytes === undefined) return this.#catalog.isAsLocated(located) ? 'damaged' : 'changed'
    return this.#compared(located, located.digest.function.hash(bytes))
  }

  async #readRecord(located: Located): Promise<Buffer | undefined> {
    const { digest, location, storedBytes } = located
    const bytes = await this.#catalog.records.read(location, digest, storedBytes)
    if (bytes === undefined && this.#catalog.isAsLocated(located)) await this.damaged(located)
    return bytes
  }

  /**
   * Whether the first whole read of a file compares it with its digest. The checksum is of the bytes that were written, whatever they
   * were, and costs a third of a hash. So a file whose key is known to be the hash of its content is hashed by the scrub alone. An entry of
   * an earlier version is hashed once, if it is read as content.
   */
  wantsDigest({ isHash, digest }: Located): boolean {
    return !isHash && digest.isHashOfContent
  }

  /** What follows from the hash of a whole blob. */
  async #compared(located: Located, hash: string): Promise<CheckOutcome> {
    const catalog = this.#catalog
    if (!catalog.isAsLocated(located)) return 'changed'
    const { digest, isHash } = located
    if (hash === digest.hash) {
      if (!isHash) catalog.noteHash(located)
      return 'right'
    }
    if (!isHash && !digest.isHashOfContent) return 'unexplained'
    await this.damaged(located, 'its bytes are not those of its digest')
    return 'damaged'
  }

  /**
   * Opens the file of a blob. A missing or truncated file is dropped. Undefined then, and when the blob changed
   * meanwhile.
   */
  async openFile(located: Located): Promise<Opened | undefined> {
    const file = await OpenFile.open(located.path, located.digest.key)
    if (file !== undefined) {
      const stats = file.stat()
      if (stats.size === located.storedBytes) return { file, stats }
      await file.close().catch(() => {})
    }
    await this.#catalog.dropDamaged(located, 'gone')
    return undefined
  }

  /**
   * A range of a packed blob whose bytes are intact. Undefined, and the blob dropped, if they are not or its file is
   * gone.
   */
  async openPacked(located: Located, { offset, end }: Extent, bufferBytes: number): Promise<PackPart | undefined> {
    const catalog = this.#catalog
    const place = await catalog.placeOf(located)
    if (place === undefined) {
      if (catalog.isAsLocated(located)) await this.damaged(located)
      return undefined
    }
    const { pack } = place
    if (!(await catalog.packs.use(pack))) {
      await catalog.dropDamaged(located, 'gone')
      return undefined
    }
    const part = new PackPart({
      ...{ packs: catalog.packs, pack, key: located.digest.key, bufferBytes },
      ...{ offset: place.offset + offset, sizeBytes: end - offset },
      onTorn: () => void catalog.dropDamaged(located, 'gone'),
    })
    if (catalog.isVerified(located)) return part
    const outcome = await this.#checkPacked(located, place, {}).catch(async (error: unknown) => {
      await part.close()
      throw error
    })
    if (isIntact(outcome)) return part
    await part.close()
    return undefined
  }

  /** Compares the bytes of a packed blob, whose pack is in use, with their checksum. A damaged blob is dropped. */
  async #checkPacked(located: Located, { pack, offset }: Packed, options: CheckOptions): Promise<CheckOutcome> {
    const from = { read: (into: Buffer, position: number) => pack.read(into, offset + position) }
    const outcome = await this.#checkBytes(from, located, options)
    if (isIntact(outcome)) this.#catalog.verified(located)
    return outcome
  }

  /** Compares bytes on the disk with their checksum, and with their digest if that is wanted. */
  async #checkBytes(
    from: Pick<OpenFile, 'read'>,
    located: Located,
    { pace = NO_PACE, hashes = this.wantsDigest(located) }: CheckOptions,
  ): Promise<CheckOutcome> {
    const checksum = await this.checksumOf(located)
    if (checksum === undefined) return this.#catalog.isAsLocated(located) ? 'damaged' : 'changed'
    const hasher = hashes ? located.digest.function.createHasher(located.digest.sizeBytes) : undefined
    const found = await readThrough(from, located, pace, hasher)
    if (!this.#catalog.isAsLocated(located)) return 'changed'
    if (found !== checksum) {
      await this.damaged(located)
      return 'damaged'
    }
    return hasher === undefined ? 'right' : this.#compared(located, hasher.digest())
  }

  /** `check` of a packed blob. */
  async checkPacked(located: Located, options: CheckOptions = {}): Promise<CheckOutcome> {
    const place = await this.#catalog.placeOf(located)
    if (place === undefined) {
      if (this.#catalog.isAsLocated(located)) await this.damaged(located)
      return 'damaged'
    }
    const { packs } = this.#catalog
    if (!(await packs.use(place.pack))) {
      await this.#catalog.dropDamaged(located, 'gone')
      return 'changed'
    }
    try {
      return await this.#checkPacked(located, place, options)
    } finally {
      packs.release(place.pack)
    }
  }

  /**
   * The checksum of a file from when it was written. Undefined when the record is damaged; then the blob is dropped.
   */
  async checksumOf(located: Located): Promise<number | undefined> {
    const head = await this.#catalog.records.readHead(located.location, located.digest)
    if (head === undefined && this.#catalog.isAsLocated(located)) await this.damaged(located)
    return head?.checksum
  }

  /**
   * Whether the bytes of a file with this modification time are known to be intact. While the blob is uploaded again,
   * the file may already be the new one; both are complete.
   */
  trusts({ digest, slot }: Located, { mtimeMs }: Pick<Stats, 'mtimeMs'>): boolean {
    return this.#catalog.verifiedTimes.isUnchanged(slot, mtimeMs) || this.#catalog.isCommitting(digest)
  }

  /** Whether a file was written to or touched since its bytes were known to be intact. */
  suspects({ digest, slot }: Located, { mtimeMs }: Pick<Stats, 'mtimeMs'>): boolean {
    return this.#catalog.verifiedTimes.hasChanged(slot, mtimeMs) && !this.#catalog.isCommitting(digest)
  }

  /**
   * A file with this modification time was read completely, and its hash was computed if `wantsDigest`. Returns whether its bytes are right.
   */
  async readWhole(
    located: Located,
    stats: Pick<Stats, 'mtimeMs'>,
    { isAsWritten, hash }: { readonly isAsWritten: boolean; readonly hash: string | undefined },
  ): Promise<boolean> {
    if (!isAsWritten) await this.damaged(located)
    const isRight = isAsWritten && (hash === undefined || (await this.#compared(located, hash)) !== 'damaged')
    if (isRight) this.vouch(located, stats)
    return isRight
  }

  /** Records that a file with this modification time was read completely and was intact. */
  vouch(located: Located, { mtimeMs }: Pick<Stats, 'mtimeMs'>): void {
    if (this.#catalog.isAsLocated(located)) this.#catalog.verifiedTimes.set(located.slot, mtimeMs)
  }

  /** Drops a damaged blob: no reader gets it again, and the next upload restores it. */
  async damaged(located: Located, why = 'its bytes differ from those written'): Promise<void> {
    if (!this.#catalog.isAsLocated(located)) return
    this.#log.warn('a blob of the store is damaged: dropped until a client uploads it again', {
      blob: located.digest.key,
      why,
    })
    await this.#catalog.dropDamaged(located, 'damaged')
  }

  /**
   * Compares the file of a blob with its checksum, and with its digest if that is wanted, and drops a damaged one. Before each read it
   * waits for `pace`, called with the number of bytes.
   */
  async check(located: Located, options: CheckOptions = {}): Promise<CheckOutcome> {
    const opened = await this.openFile(located)
    if (opened === undefined) return 'changed'
    const { file, stats } = opened
    try {
      const outcome = await this.#checkBytes(file, located, options)
      if (isIntact(outcome)) this.vouch(located, stats)
      return outcome
    } finally {
      await file.close().catch(() => {})
    }
  }
}

const NO_PACE: Pace = async () => {}

/** Returns the checksum of a blob on the disk; `hasher` sees its bytes too. */
const readThrough = async (
  file: Pick<OpenFile, 'read'>,
  { storedBytes, digest }: Located,
  pace: Pace,
  hasher: Hasher | undefined,
): Promise<number> => {
  const buffer = Buffer.allocUnsafeSlow(Math.min(STAGE_BYTES, storedBytes))
  let checksum = 0
  for (let at = 0; at < storedBytes; ) {
    const wanted = buffer.subarray(0, Math.min(buffer.length, storedBytes - at))
    await pace(wanted.length)
    const bytesRead = await file.read(wanted, at).catch((error: unknown) => {
      throw fileFailure(error, `could not read blob ${digest.key}`)
    })
    if (bytesRead === 0) break
    const bytes = buffer.subarray(0, bytesRead)
    checksum = crc32(bytes, checksum)
    hasher?.update(bytes)
    at += bytesRead
  }
  return checksum
}
