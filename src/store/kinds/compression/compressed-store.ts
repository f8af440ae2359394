import { StatusError } from '../../../base/status-error.js'
import { ForwardingStore } from '../../../blobs/forwarding.js'
import type { Store, StoreProperties } from '../../../blobs/store.js'
import type { Lz4, Zstd } from '../../../config/config.js'
import type { Digest } from '../../../reapi/digest.js'
import type { Call } from '../../../rpc/call.js'
import type { Blob } from '../../../stream/blob/blob.js'
import type { BlobStage } from '../../../stream/blob/stage.js'
import { WINDOW_BYTES } from '../../../stream/compression/compression.js'
import { zstdFailure } from '../../../stream/compression/libzstd.js'
import { compressorsAt } from '../../../stream/compression/zstd-context.js'
import type { Range } from '../../../stream/path.js'
import { asKeyed } from '../../view/keyed.js'
import { type BlockFormat, lz4Blocks, zstdBlocks } from './blocks.js'
import { type Header, MAX_BLOCK_BYTES, MIN_BLOCK_BYTES, storedBound } from './container.js'
import { IdentityExtraction, ZstdExtraction } from './extraction.js'
import { Pack, packAtOnce } from './pack.js'
import { decodedLength, findStart, INDEX_FROM_BYTES, type Start } from './seek-index.js'
import { Unpack, type UnpackOptions, UnpackStage } from './unpack.js'
import { encodeAtOnce, UploadEncoder } from './upload-encoder.js'

interface CompressionParts {
  readonly format: BlockFormat
  /** Blobs with larger blocks are rejected before memory is allocated for them. */
  readonly maxBlockBytes: number
  /** Longer frames of a zstd upload are compressed again. */
  readonly maxFrameBytes: number
}

/** No content compresses better. LZ4: a byte continues a match by 255. zstd: a block of 128 KiB has a header of 3 bytes, and at least 1. */
const GREATEST_RATIO = { lz4: 255, zstd: (128 * 1024) / 4 } as const

/**
 * Keeps blobs compressed in its backend, in a container format. A damaged or truncated blob is DATA_LOSS once and then
 * a miss: it is removed before the reader gets the error. Clients that use zstd send and receive the stored frames
 * unchanged. For backends where bytes are more expensive than CPU, and for clients that compress.
 */
export class CompressionStore extends ForwardingStore {
  readonly #parts: CompressionParts
  readonly #properties: StoreProperties
  readonly #pack: BlobStage

  constructor(backend: Store, parts: CompressionParts) {
    super(asKeyed(backend))
    this.#parts = parts
    const { format } = parts
    this.#pack = { windowBytes: 0, stream: () => new Pack(format), bytes: (bytes) => packAtOnce(bytes, format) }
    const encodings = parts.format.header.algorithm === 'zstd' ? (['ZSTD'] as const) : []
    // A blob may be larger than what is stored of it, as far as its format can compress.
    const maxBlobBytes = backend.properties.maxBlobBytes * GREATEST_RATIO[parts.format.header.algorithm]
    this.#properties = { ...backend.properties, encodings, maxBlobBytes }
  }

  override get properties(): StoreProperties {
    return this.#properties
  }

  /** A file of the backend does not contain the plain blob. */
  override get files(): undefined {
    return undefined
  }

  override async get(digest: Digest, asked: Range, call: Call): Promise<Blob> {
    const range = asked.offset < 0 ? await this.#fromStart(digest, asked, call) : asked
    if (range.offset > INDEX_FROM_BYTES) {
      const start = await findStart(this.backend, digest, range, call)
      if (start !== undefined) return this.#getFrom(start, digest, range, call)
    }
    const blob = await this.backend.get(digest, { offset: 0, limit: storedBound(range.offset + range.limit) }, call)
    return this.#unpacked(blob, digest, range, call)
  }

  protected override incoming(blob: Blob, digest: Digest): Blob {
    if (this.#parts.format.header.algorithm !== 'zstd' || !blob.isIn('ZSTD')) return blob.through(this.#pack)
    const keep: BlobStage = {
      doesCheck: true,
      windowBytes: this.#windowBytes(digest),
      stream: (check) => new UploadEncoder(digest, this.#parts, check),
      bytes: (bytes, check) => encodeAtOnce(bytes, digest, this.#parts, check),
    }
    return blob.as('ZSTD').through(keep)
  }

  /** A zstd read returns the stored frames, for the whole blob only. */
  #unpacked(blob: Blob, digest: Digest, range: Range, call: Call): Blob {
    const repair = (): Promise<void> => this.remove(digest, 'wrong', call)
    const isAll = range.offset === 0 && range.limit === Number.POSITIVE_INFINITY
    const isChecked = isAll && this.#properties.detectsDamage
    const extract: UnpackOptions['extract'] = (header, scratch) =>
      new IdentityExtraction(this.#accepted(header), range, { isChecked, position: 0, scratch })
    const frames = (): readonly BlobStage[] => {
      const extractFrames = (header: Header): ZstdExtraction =>
        new ZstdExtraction(this.#accepted(header), { isChecked })
      return [new UnpackStage({ extract: extractFrames, repair }, 0)]
    }
    const keepsFrames = isAll && this.#properties.encodings.includes('ZSTD')
    const as: BlobStage['as'] = (encoding) => (keepsFrames && encoding === 'ZSTD' ? frames() : undefined)
    return blob.through(new UnpackStage({ extract, repair }, this.#windowBytes(digest), as))
  }

  /** Index and records are read separately. A blob replaced in between must not be reported as damaged. */
  async #getFrom(start: Start, digest: Digest, range: Range, call: Call): Promise<Blob> {
    const { header, position, storedAt, storedEnd } = start
    const repair = async (): Promise<void> => {
      const now = await findStart(this.backend, digest, range, call)
      const isAsRead = now?.storedAt === storedAt && now.position === position && now.storedEnd === storedEnd
      if (isAsRead) await this.remove(digest, 'wrong', call)
    }
    const extract = () => new IdentityExtraction(this.#accepted(header), range, { position })
    const blob = await this.backend.get(digest, { offset: storedAt, limit: storedEnd - storedAt }, call)
    return blob.through({
      stream: () => new Unpack({ header, extract, repair }),
      windowBytes: this.#windowBytes(digest),
    })
  }

  /** Of a decoder: a frame of this store needs no more than its block, one of a client no more than its content. */
  #windowBytes({ sizeBytes }: Digest): number {
    const { format, maxFrameBytes } = this.#parts
    const frameBytes = Math.max(format.header.blockBytes, maxFrameBytes)
    return Math.min(sizeBytes, frameBytes, WINDOW_BYTES)
  }

  /** Converts a range that counts from the end. The length of the blob is at the end of its stored form. */
  async #fromStart(digest: Digest, { offset, limit, wantedAs }: Range, call: Call): Promise<Range> {
    const sizeBytes = await decodedLength(this.backend, digest, call)
    return { offset: Math.max(0, sizeBytes + offset), limit, wantedAs }
  }

  #accepted(header: Header): Header {
    // Only LZ4 allocates memory for a whole block.
    const maxBlockBytes = header.algorithm === 'lz4' ? this.#parts.maxBlockBytes : MAX_BLOCK_BYTES
    if (header.blockBytes > 0 && header.blockBytes <= maxBlockBytes) return header
    const setting = header.algorithm === 'lz4' ? 'max_decode_block_size allows' : 'the most is'
    throw new StatusError(
      'FAILED_PRECONDITION',
      `the blob was compressed in blocks of ${header.blockBytes} bytes, ${setting} ${maxBlockBytes}`,
    )
  }
}

export const lz4Parts = ({ block_size: blockBytes, max_decode_block_size }: Lz4): CompressionParts => {
  const maxBlockBytes = max_decode_block_size === 0 ? blockBytes : max_decode_block_size
  if (blockBytes < MIN_BLOCK_BYTES || maxBlockBytes < blockBytes) {
    const found = `block_size ${blockBytes} and max_decode_block_size ${maxBlockBytes}`
    const expected = `at least ${MIN_BLOCK_BYTES} bytes, and the second not below the first`
    throw new StatusError('INVALID_ARGUMENT', `lz4 cannot work with ${found}, expected ${expected}`)
  }
  return { format: lz4Blocks(blockBytes), maxBlockBytes, maxFrameBytes: 0 }
}

export const zstdParts = ({
  block_size: blockBytes,
  level,
  max_uploaded_frame_size: maxFrameBytes,
}: Zstd): CompressionParts => {
  const failure = zstdFailure()
  if (failure !== undefined) throw new StatusError('FAILED_PRECONDITION', failure)
  if (blockBytes < MIN_BLOCK_BYTES) {
    const found = `block_size ${blockBytes}`
    throw new StatusError('INVALID_ARGUMENT', `zstd cannot work with ${found}, expected at least ${MIN_BLOCK_BYTES}`)
  }
  return { format: zstdBlocks(blockBytes, compressorsAt(level)), maxBlockBytes: MAX_BLOCK_BYTES, maxFrameBytes }
}
