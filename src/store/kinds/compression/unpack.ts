import { isStatus, type StatusError } from '../../../base/status-error.js'
import type { BlobStage, Encoding } from '../../../stream/blob/stage.js'
import { ByteQueue } from '../../../stream/byte-queue.js'
import { OUT_BYTES } from '../../../stream/compression/zstd.js'
import { Loop, type LoopInput } from '../../../stream/loop.js'
import { STAGE_BYTES } from '../../../stream/path.js'
import { repaired } from '../../../stream/verify.js'
import {
  AT_ONCE_BYTES,
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
import { claimedBytes, type Extraction } from './extraction.js'

export interface UnpackOptions {
  /**
   * Creates the extraction for a blob with this header. Throws when the blob cannot be read. With `scratch` its pieces may lie
   * there, each until the next.
   */
  extract(header: Header, scratch: Buffer | undefined): Extraction
  /** The header, if the bytes start with a record in the middle of a blob. */
  readonly header?: Header | undefined
  /** Removes a damaged blob, so that a retry is a miss. Runs before the error is reported. */
  repair(): Promise<void>
}

/** Decodes the stored form. Bytes after the needed ones are read and ignored. */
export class Unpack extends Loop {
  constructor(options: UnpackOptions) {
    super((input) => repairing(input, options))
  }
}

async function* repairing(input: LoopInput, options: UnpackOptions): AsyncGenerator<Buffer> {
  try {
    yield* unpack(input, options)
  } catch (error) {
    throw isStatus(error, 'DATA_LOSS') ? await repaired(error, options.repair) : error
  }
}

async function* unpack(input: LoopInput, { extract, header: known }: UnpackOptions): AsyncGenerator<Buffer> {
  const stored = new Stored(input)
  const header = known ?? decodeHeader(await stored.take(HEADER_BYTES))
  const records = new Records(extract(header, undefined))
  try {
    while (!records.areDone) {
      const head = decodeRecordHead(await stored.take(RECORD_BYTES), header)
      yield* records.pieces(head, await stored.take(head.payloadBytes))
    }
    if (records.haveEnded && (await stored.hasMore())) throw trailing()
  } finally {
    records.close()
  }
}

/**
 * Decodes a stored form that has all come, without streams, promises and timers. Undefined if it is large, or decodes to more than
 * a stage may hold.
 */
const unpackAtOnce = (bytes: Buffer, options: UnpackOptions): Buffer | undefined | Promise<Buffer> => {
  if (bytes.length > AT_ONCE_BYTES) return undefined
  try {
    return unpacked(bytes, options)
  } catch (error) {
    if (!isStatus(error, 'DATA_LOSS')) throw error
    return rejectRepaired(error, options.repair)
  }
}

const unpacked = (bytes: Buffer, { extract }: UnpackOptions): Buffer | undefined => {
  if (bytes.length < HEADER_BYTES) throw truncated()
  const header = decodeHeader(bytes)
  const records = new Records(extract(header, SCRATCH))
  const pieces: Buffer[] = []
  let wantedBytes = 0
  let at = HEADER_BYTES
  try {
    while (!records.areDone) {
      const from = at + RECORD_BYTES
      if (from > bytes.length) throw truncated()
      const head = decodeRecordHead(bytes, header, at)
      at = from + head.payloadBytes
      if (at > bytes.length) throw truncated()
      const payload = bytes.subarray(from, at)
      wantedBytes += claimedBytes(head, payload, header)
      if (wantedBytes > STAGE_BYTES) return undefined
      for (const piece of records.pieces(head, payload))
        pieces.push(piece.buffer === SCRATCH.buffer ? Buffer.from(piece) : piece)
    }
    if (records.haveEnded && at < bytes.length) throw trailing()
  } finally {
    records.close()
  }
  const [first] = pieces
  return first !== undefined && pieces.length === 1 ? first : Buffer.concat(pieces)
}

const rejectRepaired = async (error: StatusError, repair: UnpackOptions['repair']): Promise<never> => {
  throw await repaired(error, repair)
}

/** For one blob at a time, which is decoded in one go. */
const SCRATCH = Buffer.allocUnsafeSlow(OUT_BYTES)

/** What becomes of records, one after the other. */
class Records {
  readonly #extraction: Extraction
  #isIndexed = false
  #haveEnded = false

  constructor(extraction: Extraction) {
    this.#extraction = extraction
  }

  get areDone(): boolean {
    return this.#haveEnded || this.#extraction.isSatisfied
  }

  get haveEnded(): boolean {
    return this.#haveEnded
  }

  pieces(head: RecordHead, payload: Buffer): Iterable<Buffer> {
    if (head.kind === 'end') {
      checkCrc(head, payload)
      this.#extraction.end(decodeEnd(payload).sizeBytes)
      this.#haveEnded = true
      return NONE
    }
    if (this.#isIndexed) throw corrupt('records follow its index')
    if (head.kind !== 'index') return this.#extraction.pieces(head, payload)
    checkCrc(head, payload)
    this.#isIndexed = true
    return NONE
  }

  close(): void {
    this.#extraction.close()
  }
}

const NONE: readonly Buffer[] = []

const trailing = (): StatusError => corrupt('bytes follow its end record')
const truncated = (): StatusError => corrupt('it ends without its end record')

/** Splits the stored bytes into the requested lengths. */
class Stored {
  readonly #input: LoopInput
  readonly #arrived = new ByteQueue()

  constructor(input: LoopInput) {
    this.#input = input
  }

  async take(wantedBytes: number): Promise<Buffer> {
    while (this.#arrived.sizeBytes < wantedBytes) {
      const { value } = await this.#input.next()
      if (value === undefined) throw truncated()
      this.#arrived.add(value)
    }
    return this.#arrived.take(wantedBytes)
  }

  async hasMore(): Promise<boolean> {
    return this.#arrived.sizeBytes > 0 || (await this.#input.next()).done !== true
  }
}

/** A whole blob, or a range from its beginning on, as a stage. A class: a literal of closures costs a small blob as much as decoding it. */
export class UnpackStage implements BlobStage {
  readonly windowBytes: number
  readonly #options: UnpackOptions
  readonly #as: BlobStage['as']

  constructor(options: UnpackOptions, windowBytes: number, as?: BlobStage['as']) {
    this.windowBytes = windowBytes
    this.#options = options
    this.#as = as
  }

  stream(): Unpack {
    return new Unpack(this.#options)
  }

  bytes(bytes: Buffer): Buffer | undefined | Promise<Buffer> {
    return unpackAtOnce(bytes, this.#options)
  }

  as(encoding: Encoding): readonly BlobStage[] | undefined {
    return this.#as?.(encoding)
  }
}
