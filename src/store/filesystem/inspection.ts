import type { Stats } from 'node:fs'
import { stat } from 'node:fs/promises'
import { crc32 } from 'node:zlib'
import { fileFailure } from '../../base/errno.js'
import type { Log } from '../../base/log.js'
import { boundedMap } from '../../base/work/bounded-map.js'
import { STAGE_BYTES } from '../../stream/path.js'
import { OpenFile } from './files/open-file.js'
import { isGone } from './files/unlinker.js'
import type { Located } from './located.js'
import type { Shelf } from './shelf.js'

const STATS_AT_A_TIME = 16

/** Larger records would push many small ones out of memory. There, a read of 1 KiB takes less than half of the CPU. */
const LARGEST_RECENT_BYTES = 16 * 1024
/** What one takes there besides its bytes: buffer, key and place in the map. */
const RECENT_OVERHEAD_BYTES = 400

/** `changed` when the blob was replaced or removed meanwhile, or its file is gone: then nothing is known of it. */
export type CheckOutcome = 'right' | 'damaged' | 'changed'

/**
 * What reading a blob, or a look at its file, says of it: that it is right, that it is gone, torn or damaged. Of those the shelf is
 * healed, so that they are a miss.
 */
export class Inspection {
  readonly #shelf: Shelf
  readonly #log: Log
  #damagedCount = 0

  constructor(shelf: Shelf, log: Log) {
    this.#shelf = shelf
    this.#log = log
  }

  /** Blobs found to be other than what was written, since the start. */
  get damagedCount(): number {
    return this.#damagedCount
  }

  /** Looks at every file: a loss of power may have cut short those that were written last. */
  async lookAtAll(): Promise<void> {
    const { index } = this.#shelf
    const files = [...index.slots()].filter((slot) => !index.isInline(slot))
    await boundedMap(files, STATS_AT_A_TIME, (slot) => this.look(this.#shelf.at(slot)))
  }

  /** Drops a file that is gone, or not as long as it was; one that cannot be looked at stays as it is. */
  async look(located: Located): Promise<void> {
    try {
      const { size } = await stat(located.path)
      if (size !== located.storedBytes) await this.#shelf.heal(located)
    } catch (error) {
      if (isGone(error)) await this.#shelf.heal(located)
    }
  }

  /** The bytes of a small blob. A record that turns out damaged is dropped, and is a miss. */
  async readInline(located: Located): Promise<Buffer | undefined> {
    const { digest, location } = located
    const recent = this.#shelf.recent.get(digest.key)
    // The very same buffer as last time: who knows what it holds by the buffer recognises it.
    if (recent?.location === location) return recent.bytes
    const bytes = await this.checkInline(located)
    if (bytes !== undefined && bytes.length <= LARGEST_RECENT_BYTES && this.#shelf.isThere(located)) {
      this.#shelf.recent.set(digest.key, { location, bytes }, bytes.length + RECENT_OVERHEAD_BYTES)
    }
    return bytes
  }

  /** As `readInline`, from the disk whatever is in memory. */
  async checkInline(located: Located): Promise<Buffer | undefined> {
    const { digest, location, storedBytes } = located
    const bytes = await this.#shelf.records.read(location, digest, storedBytes)
    if (bytes === undefined && this.#shelf.isAsLocated(located)) await this.damaged(located)
    return bytes
  }

  /** Opens a blob's file. One that vanished or was cut short is dropped; undefined then, and when it changed meanwhile. */
  async openFile(located: Located): Promise<OpenFile | undefined> {
    const file = await OpenFile.open(located.path, located.digest.key)
    if (file !== undefined) {
      if (file.stat().size === located.storedBytes) return file
      await file.close().catch(() => {})
    }
    await this.#shelf.heal(located)
    return undefined
  }

  /** The checksum that a file had when it was written; undefined when its record is damaged, and the blob dropped. */
  async checksumOf(located: Located): Promise<number | undefined> {
    const head = await this.#shelf.records.readHead(located.location, located.digest)
    if (head === undefined && this.#shelf.isAsLocated(located)) await this.damaged(located)
    return head?.checksum
  }

  /**
   * Whether the bytes of a file with this modification time are known to be right. While the blob is uploaded again the file
   * in its place may be the new one already: either is whole.
   */
  trusts({ digest, slot }: Located, { mtimeMs }: Pick<Stats, 'mtimeMs'>): boolean {
    return this.#shelf.marks.vouchesFor(slot, mtimeMs) || this.#shelf.isCommitting(digest)
  }

  /** Whether somebody wrote to a file, or touched it, since its bytes were known to be right. */
  suspects({ digest, slot }: Located, { mtimeMs }: Pick<Stats, 'mtimeMs'>): boolean {
    return this.#shelf.marks.suspects(slot, mtimeMs) && !this.#shelf.isCommitting(digest)
  }

  /** Somebody read all of a file that had this modification time, and its bytes were right. */
  vouch(located: Located, { mtimeMs }: Pick<Stats, 'mtimeMs'>): void {
    if (this.#shelf.isAsLocated(located)) this.#shelf.marks.set(located.slot, mtimeMs)
  }

  /** Drops a blob whose bytes are not those that were written: nobody gets them again, and the next upload heals it. */
  async damaged(located: Located): Promise<void> {
    if (!this.#shelf.isAsLocated(located)) return
    this.#damagedCount++
    this.#log.warn('a blob of the store is damaged: it is dropped until somebody uploads it again', {
      blob: located.digest.key,
    })
    await this.#shelf.heal(located)
  }

  /**
   * Compares a blob's file with the checksum it was written with; a damaged one is dropped. `pace` is waited for in front of
   * every read, with how many bytes that takes.
   */
  async check(located: Located, pace: (bytes: number) => Promise<void> = async () => {}): Promise<CheckOutcome> {
    const file = await this.openFile(located)
    if (file === undefined) return 'changed'
    try {
      const { mtimeMs } = file.stat()
      const checksum = await this.checksumOf(located)
      if (checksum === undefined) return this.#shelf.isAsLocated(located) ? 'damaged' : 'changed'
      const isRight = (await fileChecksum(file, located, pace)) === checksum
      if (!this.#shelf.isAsLocated(located)) return 'changed'
      if (isRight) this.vouch(located, { mtimeMs })
      else await this.damaged(located)
      return isRight ? 'right' : 'damaged'
    } finally {
      await file.close().catch(() => {})
    }
  }
}

const fileChecksum = async (
  file: OpenFile,
  { storedBytes, digest }: Located,
  pace: (bytes: number) => Promise<void>,
): Promise<number> => {
  const buffer = Buffer.allocUnsafeSlow(Math.min(STAGE_BYTES, storedBytes))
  let checksum = 0
  for (let at = 0; at < storedBytes; ) {
    await pace(Math.min(buffer.length, storedBytes - at))
    const bytesRead = await file.read(buffer, at).catch((error: unknown) => {
      throw fileFailure(error, `could not read blob ${digest.key}`)
    })
    if (bytesRead === 0) break
    checksum = crc32(buffer.subarray(0, bytesRead), checksum)
    at += bytesRead
  }
  return checksum
}
