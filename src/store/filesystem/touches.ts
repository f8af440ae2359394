import { crc32 } from 'node:zlib'
import type { Clock } from '../../base/clock.js'
import type { Log } from '../../base/log.js'
import { SparingLog } from '../../base/sparing-log.js'
import { Digest } from '../../reapi/digest.js'
import { digestFunctions } from '../../reapi/digest-function.js'
import { ABSENT, type BlobIndex } from '../index/blob-index.js'
import { CONTENT_BYTES_MAX, type RecordLog } from './records/record-log.js'

/** How much of what was used kill -9 may make the store forget, and how often it writes down what was used at most. */
const FLUSH_MS = 20

/** Of each blob: the first three words of its hash, and the second of its use. */
const ENTRY_BYTES = 16

const RATION = { lines: 1, periodMs: 60_000 }

/** Stands in the heads of records that are about many blobs. */
const NO_BLOB = Digest.of(Buffer.alloc(0), digestFunctions.SHA256)

export interface TouchesParts {
  readonly index: BlobIndex
  readonly records: RecordLog
  readonly clock: Clock
  readonly log: Log
}

/**
 * Writes to the log which blobs were used, so that a start after kill -9 evicts none of them before older ones. The index
 * reports a blob once in 16 seconds at most, and one record has all that were used within 20 ms: the log grows with the
 * number of blobs in use, and not with that of reads. No call waits for it.
 */
export class Touches {
  readonly #parts: TouchesParts
  readonly #log: SparingLog
  #slots: number[] = []
  #timer: NodeJS.Timeout | undefined
  #isStopped = false

  constructor(parts: TouchesParts) {
    this.#parts = parts
    this.#log = new SparingLog(parts.log, parts.clock, RATION)
    parts.index.onUse = (slot) => this.#add(slot)
  }

  /** From here on the checkpoint of a clean stop says what was used. */
  stop(): void {
    this.#isStopped = true
    clearTimeout(this.#timer)
  }

  #add(slot: number): void {
    this.#slots.push(slot)
    if (this.#timer !== undefined || this.#isStopped) return
    this.#timer = setTimeout(() => void this.#flush(), FLUSH_MS).unref()
  }

  /** While a record is being written the next ones wait for it: so no more waits than the index has blobs. */
  async #flush(): Promise<void> {
    const slots = this.#slots
    this.#slots = []
    const most = CONTENT_BYTES_MAX / ENTRY_BYTES
    try {
      for (let from = 0; from < slots.length; from += most) await this.#write(slots.slice(from, from + most))
    } catch (error) {
      this.#log.warn('could not note which blobs were used', { error })
    }
    this.#timer = undefined
    const [next] = this.#slots.splice(-1)
    if (next !== undefined) this.#add(next)
  }

  #write(slots: readonly number[]): Promise<void> {
    const { index, records, clock } = this.#parts
    const bytes = Buffer.allocUnsafe(slots.length * ENTRY_BYTES)
    let end = 0
    for (const slot of slots) {
      for (let word = 0; word < 3; word++) end = bytes.writeInt32LE(index.hashWordOf(slot, word), end)
      end = bytes.writeUInt32LE(index.accessedOf(slot), end)
    }
    const head = { kind: 'touches', digest: NO_BLOB, storedBytes: end, checksum: crc32(bytes) } as const
    return records.append({ ...head, writtenMs: clock.now(), bytes, placed: () => {} })
  }
}

/** Makes blobs as recently used as a record says, unless they are more so. Blobs that are not there are left out. */
export const applyTouches = (index: BlobIndex, bytes: Buffer): void => {
  for (let at = 0; at + ENTRY_BYTES <= bytes.length; at += ENTRY_BYTES) {
    const words = [bytes.readInt32LE(at), bytes.readInt32LE(at + 4), bytes.readInt32LE(at + 8)] as const
    const accessedS = bytes.readUInt32LE(at + 12)
    const slot = index.findByWords(words)
    if (slot !== ABSENT && accessedS > index.accessedOf(slot)) index.touch(slot, accessedS)
  }
}
