import { Duplex } from 'node:stream'
import { Code, StatusError } from '../../base/status-error.js'
import { ByteQueue } from '../../stream/byte-queue.js'
import { STAGE_BYTES } from '../../stream/path.js'
import {
  BURST_BYTES,
  checkCrc,
  corrupt,
  decodeEnd,
  decodeHeader,
  decodeRecordHead,
  HEADER_BYTES,
  type Header,
  RECORD_BYTES,
  type RecordHead,
} from './container.js'
import type { Extraction } from './extraction.js'

export interface UnpackOptions {
  /** What to make of a blob with that header. Throws when it is not to be read. */
  extract(header: Header): Extraction
  /** The header, when the bytes begin with a record in the middle of a blob. */
  readonly header?: Header | undefined
  /** Takes a damaged blob away, so that who tries again finds a miss. Run before the error is told. */
  repair(): Promise<void>
}

type Callback = (error?: Error | null) => void

/**
 * Reads the stored form. A Duplex and not a Transform: a few stored bytes may decode to hundreds of times as many, so it
 * makes the next piece only when the reader wants one. Bytes after what is needed are read off.
 */
export class Unpack extends Duplex {
  readonly #options: UnpackOptions
  readonly #input = new ByteQueue()
  #header: Header | undefined
  #extraction: Extraction | undefined
  #head: RecordHead | undefined
  #pieces: Iterator<Buffer> | undefined
  #state: 'records' | 'indexed' | 'ended' | 'satisfied' | 'failed' = 'records'
  #wantsMore = false
  #burstBytes = 0
  #isResting = false
  #written: Callback | undefined

  constructor(options: UnpackOptions) {
    super({ highWaterMark: STAGE_BYTES })
    this.#options = options
    this.#header = options.header
  }

  override _write(chunk: Buffer, _encoding: BufferEncoding, callback: Callback): void {
    this.#input.add(chunk)
    this.#written = callback
    this.#work()
  }

  override _read(): void {
    this.#wantsMore = true
    this.#work()
  }

  override _final(callback: Callback): void {
    if (this.#isReading) {
      this.#fail(corrupt('it ends without its end record'), callback)
      return
    }
    if (this.#state === 'ended') this.push(null)
    callback()
  }

  override _destroy(error: Error | null, callback: Callback): void {
    this.#pieces = undefined
    this.#extraction?.close()
    callback(error)
  }

  get #isReading(): boolean {
    return this.#state === 'records' || this.#state === 'indexed'
  }

  #work(): void {
    if (this.destroyed || this.#isResting) return
    try {
      while (this.#wantsMore && this.#isReading && this.#burstBytes < BURST_BYTES && this.#step());
      if (!this.#isReading) this.#readOff()
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
      this.#work()
    })
  }

  /** Makes the next piece or takes up the next record; false when that has not arrived whole. */
  #step(): boolean {
    if (this.#pieces !== undefined) {
      this.#nextPiece(this.#pieces)
      return true
    }
    const input = this.#input
    if (this.#header === undefined) {
      if (input.sizeBytes < HEADER_BYTES) return false
      this.#header = decodeHeader(input.take(HEADER_BYTES))
    }
    this.#extraction ??= this.#options.extract(this.#header)
    if (this.#head === undefined) {
      if (input.sizeBytes < RECORD_BYTES) return false
      this.#head = decodeRecordHead(input.take(RECORD_BYTES), this.#header)
    }
    const head = this.#head
    if (input.sizeBytes < head.payloadBytes) return false
    this.#head = undefined
    this.#take(head, input.take(head.payloadBytes), this.#extraction)
    return true
  }

  #take(head: RecordHead, payload: Buffer, extraction: Extraction): void {
    if (head.kind === 'end') {
      checkCrc(head, payload)
      extraction.end(decodeEnd(payload).sizeBytes)
      this.#state = 'ended'
    } else if (this.#state === 'indexed') {
      throw corrupt('records follow its index')
    } else if (head.kind === 'index') {
      checkCrc(head, payload)
      this.#state = 'indexed'
    } else {
      this.#pieces = extraction.pieces(head, payload)[Symbol.iterator]()
    }
  }

  #nextPiece(pieces: Iterator<Buffer>): void {
    const { done, value } = pieces.next()
    if (done !== true) {
      this.#burstBytes += value.length
      this.#wantsMore = this.push(value)
      return
    }
    this.#pieces = undefined
    if (this.#extraction?.isSatisfied !== true) return
    this.#state = 'satisfied'
    this.push(null)
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
    if (error.code !== Code.DATA_LOSS) tell(error)
    else
      this.#options.repair().then(
        () => tell(error),
        (cause: unknown) =>
          tell(new StatusError('DATA_LOSS', `${error.message} (and it could not be removed)`, { cause })),
      )
  }
}
