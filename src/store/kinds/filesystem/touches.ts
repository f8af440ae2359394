import { crc32 } from 'node:zlib'
import type { Clock } from '../../../base/clock.js'
import { guardedTimeout } from '../../../base/timers.js'
import type { Log } from '../../../log/log.js'
import { SparingLog } from '../../../log/sparing-log.js'
import { Digest } from '../../../reapi/digest.js'
import { digestFunctions } from '../../../reapi/digest-function.js'
import { ABSENT, type BlobIndex } from '../../index/blob-index.js'
import { CONTENT_BYTES_MAX, type RecordLog } from './records/record-log.js'

/** Interval between records of uses. A kill -9 loses the uses of at most this period. */
const FLUSH_MS = 20

/** Per blob: the first three words of its hash, and the second of its use. */
const ENTRY_BYTES = 16

const RATION = { lines: 1, periodMs: 60_000 }

/** The digest in the head of records about many blobs. */
const NO_BLOB = Digest.of(Buffer.alloc(0), digestFunctions.SHA256)

export interface TouchesParts {
  readonly index: BlobIndex
  readonly records: RecordLog
  readonly clock: Clock
  readonly log: Log
}

/**
 * Records in the log which blobs were used. After kill -9, eviction then still removes the least recently used blobs
 * first. The index reports a blob at most once in 16 seconds, and one record covers all uses within 20 ms. So the log
 * grows with the number of blobs in use, not with the number of reads. No call waits for it.
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

  /** Stops recording: the checkpoint of a clean stop has the uses. */
  stop(): void {
    this.#isStopped = true
    clearTimeout(this.#timer)
  }

  #add(slot: number): void {
    this.#slots.push(slot)
    if (this.#timer !== undefined || this.#isStopped) return
    this.#timer = guardedTimeout(() => void this.#flush(), FLUSH_MS).unref()
  }

  /** While a record is written, later uses wait. At most one use per blob of the index can wait. */
  async #flush(): Promise<void> {
    const slots = this.#slots
    this.#slots = []
    const most = CONTENT_BYTES_MAX / ENTRY_BYTES
    try {
      for (let from = 0; from < slots.length; from += most) await this.#write(slots.slice(from, from + most))
    } catch (error) {
      this.#log.warn('could not record which blobs were used', { error })
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
    return records.append({ ...head, writtenMs: clock.now(), bytes, onLocated: () => {} })
  }
}

/** Applies the uses of a record to an index. Later uses win; absent blobs are skipped. */
export const applyTouches = (index: BlobIndex, bytes: Buffer): void => {
  for (let at = 0; at + ENTRY_BYTES <= bytes.length; at += ENTRY_BYTES) {
    const words = [bytes.readInt32LE(at), bytes.readInt32LE(at + 4), bytes.readInt32LE(at + 8)] as const
    const accessedS = bytes.readUInt32LE(at + 12)
    const slot = index.findByWords(words)
    if (slot !== ABSENT && accessedS > index.accessedOf(slot)) index.touch(slot, accessedS)
  }
}
