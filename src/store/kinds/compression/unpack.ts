import { isStatus } from '../../../base/status-error.js'
import { ByteQueue } from '../../../stream/byte-queue.js'
import { Loop, type LoopInput } from '../../../stream/loop.js'
import { repaired } from '../../../stream/verify.js'
import {
  checkCrc,
  corrupt,
  decodeEnd,
  decodeHeader,
  decodeRecordHead,
  HEADER_BYTES,
  type Header,
  RECORD_BYTES,
} from './container.js'
import type { Extraction } from './extraction.js'

export interface UnpackOptions {
  /** Creates the extraction for a blob with this header. Throws when the blob cannot be read. */
  extract(header: Header): Extraction
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
  const extraction = extract(header)
  let isIndexed = false
  try {
    while (!extraction.isSatisfied) {
      const head = decodeRecordHead(await stored.take(RECORD_BYTES), header)
      const payload = await stored.take(head.payloadBytes)
      if (head.kind === 'end') {
        checkCrc(head, payload)
        extraction.end(decodeEnd(payload).sizeBytes)
        if (await stored.hasMore()) throw corrupt('bytes follow its end record')
        return
      }
      if (isIndexed) throw corrupt('records follow its index')
      if (head.kind === 'index') {
        checkCrc(head, payload)
        isIndexed = true
      } else yield* extraction.pieces(head, payload)
    }
  } finally {
    extraction.close()
  }
}

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
      if (value === undefined) throw corrupt('it ends without its end record')
      this.#arrived.add(value)
    }
    return this.#arrived.take(wantedBytes)
  }

  async hasMore(): Promise<boolean> {
    return this.#arrived.sizeBytes > 0 || (await this.#input.next()).done !== true
  }
}
