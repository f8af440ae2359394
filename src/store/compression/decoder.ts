import { Duplex } from 'node:stream'
import { uncompressSync } from 'lz4-napi'
import { StatusError } from '../../base/status-error.js'
import { ByteQueue } from '../../stream/byte-queue.js'
import { type Range, STAGE_BYTES } from '../../stream/path.js'
import {
  BURST_BYTES,
  checkCrc,
  corrupt,
  decodeHeader,
  decodeRecordHead,
  HEADER_BYTES,
  LENGTH_PREFIX_BYTES,
  RECORD_BYTES,
  type RecordHead,
} from './container.js'

export interface DecoderOptions {
  readonly range: Range
  /** Blobs written with larger blocks are refused before memory is taken for them. */
  readonly maxBlockBytes: number
  /** Takes a damaged blob away, so that who tries again finds a miss. Run before the error is told. */
  repair(): Promise<void>
}

type Callback = (error?: Error | null) => void

/**
 * Turns the stored form back into a range of the blob. Blocks before the range are skipped without decoding them, bytes
 * after it are read off. A Duplex and not a Transform: a few stored bytes may decode to hundreds of times as many, so it
 * decodes the next block only when the reader wants one.
 */
export class Lz4Decoder extends Duplex {
  readonly #options: DecoderOptions
  readonly #input = new ByteQueue()
  #blockBytes: number | undefined
  #head: RecordHead | undefined
  /** Bytes of the blob decoded or skipped so far. */
  #position = 0
  #lastBlockBytes: number | undefined
  #state: 'blocks' | 'ended' | 'satisfied' | 'failed' = 'blocks'
  #wantsMore = false
  #burstBytes = 0
  #isResting = false
  #written: Callback | undefined

  constructor(options: DecoderOptions) {
    super({ highWaterMark: STAGE_BYTES })
    this.#options = options
  }

  override _write(chunk: Buffer, _encoding: BufferEncoding, callback: Callback): void {
    this.#input.add(chunk)
    this.#written = callback
    this.#decode()
  }

  override _read(): void {
    this.#wantsMore = true
    this.#decode()
  }

  override _final(callback: Callback): void {
    if (this.#state === 'blocks') {
      this.#fail(corrupt(`it ends after ${this.#position} bytes without its end record`), callback)
      return
    }
    if (this.#state === 'ended') this.push(null)
    callback()
  }

  #decode(): void {
    if (this.destroyed || this.#isResting) return
    try {
      while (this.#wantsMore && this.#state === 'blocks' && this.#burstBytes < BURST_BYTES && this.#step());
      if (this.#state !== 'blocks') this.#readOff()
      else if (this.#burstBytes >= BURST_BYTES) {
        this.#rest()
        return
      }
      // While the reader wants nothing, complete records may be left: then more input has to wait.
      else if (!this.#wantsMore) return
    } catch (error) {
      this.#fail(StatusError.from(error), this.#takeWritten())
      return
    }
    this.#takeWritten()()
  }

  /** Goes on when the event loop has turned. */
  #rest(): void {
    this.#isResting = true
    setImmediate(() => {
      this.#isResting = false
      this.#burstBytes = 0
      this.#decode()
    })
  }

  /** Handles the next part of the input; false when that has not arrived whole. */
  #step(): boolean {
    const input = this.#input
    if (this.#blockBytes === undefined) {
      if (input.sizeBytes < HEADER_BYTES) return false
      this.#blockBytes = this.#accepted(decodeHeader(input.take(HEADER_BYTES)))
    }
    if (this.#head === undefined) {
      if (input.sizeBytes < RECORD_BYTES) return false
      this.#head = decodeRecordHead(input.take(RECORD_BYTES), this.#blockBytes)
    }
    const head = this.#head
    if (input.sizeBytes < head.payloadBytes) return false
    this.#head = undefined
    const payload = input.take(head.payloadBytes)
    if (head.kind === 'end') this.#end(head, payload)
    else this.#block(head, payload, this.#blockBytes)
    return true
  }

  #accepted(blockBytes: number): number {
    const { maxBlockBytes } = this.#options
    if (blockBytes > 0 && blockBytes <= maxBlockBytes) return blockBytes
    throw new StatusError(
      'FAILED_PRECONDITION',
      `the blob was compressed in blocks of ${blockBytes} bytes, max_decode_block_size allows ${maxBlockBytes}`,
    )
  }

  #block(head: RecordHead, payload: Buffer, blockBytes: number): void {
    if (this.#lastBlockBytes !== undefined && this.#lastBlockBytes !== blockBytes) {
      throw corrupt(`a block of ${this.#lastBlockBytes} bytes is not the last, expected ${blockBytes}`)
    }
    const decodedBytes = decodedLength(head, payload)
    if (decodedBytes === 0 || decodedBytes > blockBytes) {
      throw corrupt(`a block claims ${decodedBytes} bytes, expected 1 to ${blockBytes}`)
    }
    const { offset, limit } = this.#options.range
    const from = Math.max(0, offset - this.#position)
    const to = Math.min(decodedBytes, offset + limit - this.#position)
    this.#position += decodedBytes
    this.#lastBlockBytes = decodedBytes
    if (from < to) {
      checkCrc(head, payload)
      const block = head.kind === 'raw' ? payload : uncompress(payload)
      this.#burstBytes += block.length
      if (block.length !== decodedBytes) throw corrupt(`a block has ${block.length} bytes, expected ${decodedBytes}`)
      this.#wantsMore = this.push(block.subarray(from, to))
    }
    if (this.#position < offset + limit) return
    this.#state = 'satisfied'
    this.push(null)
  }

  #end(head: RecordHead, payload: Buffer): void {
    checkCrc(head, payload)
    const sizeBytes = Number(payload.readBigUInt64LE())
    if (sizeBytes !== this.#position) throw corrupt(`it has ${this.#position} bytes, expected ${sizeBytes}`)
    const { offset } = this.#options.range
    if (offset > sizeBytes) {
      throw new StatusError('OUT_OF_RANGE', `cannot read the blob from byte ${offset}: it has ${sizeBytes} bytes`)
    }
    this.#state = 'ended'
  }

  #readOff(): void {
    if (this.#state === 'ended' && this.#input.sizeBytes > 0) throw corrupt('bytes follow its end record')
    this.#input.clear()
  }

  #takeWritten(): Callback {
    const written = this.#written
    this.#written = undefined
    return written ?? (() => {})
  }

  /** Ends in the callback or, when nobody waits for one, by destroying this stage. */
  #fail(error: StatusError, callback: Callback): void {
    this.#state = 'failed'
    const tell = (told: StatusError): void => {
      callback(told)
      this.destroy(told)
    }
    if (error.code !== DATA_LOSS) tell(error)
    else
      this.#options.repair().then(
        () => tell(error),
        (cause: unknown) =>
          tell(new StatusError('DATA_LOSS', `${error.message} (and it could not be removed)`, { cause })),
      )
  }
}

const DATA_LOSS = corrupt('').code

const decodedLength = (head: RecordHead, payload: Buffer): number => {
  if (head.kind === 'raw') return payload.length
  if (payload.length <= LENGTH_PREFIX_BYTES) throw corrupt('a block is too short to be one')
  return payload.readUInt32LE(0)
}

/** The length was checked before: it is what the library takes memory for. */
const uncompress = (payload: Buffer): Buffer => {
  try {
    return uncompressSync(payload)
  } catch (cause) {
    throw new StatusError('DATA_LOSS', 'a compressed blob is damaged: a block cannot be decoded', { cause })
  }
}
