import type { Call } from '../../base/call.js'
import type { HealthStatus } from '../../base/health.js'
import { StatusError } from '../../base/status-error.js'
import type { Lz4, Zstd } from '../../config/config.js'
import type { Digest } from '../../reapi/digest.js'
import type { DigestBatch } from '../../reapi/digest-batch.js'
import { zstdFailure } from '../../stream/compression/libzstd.js'
import { compressorsAt } from '../../stream/compression/zstd-context.js'
import type { Range, ReadPath, WritePath } from '../../stream/path.js'
import { type CompressedBlobs, findMissingIn, type Store } from '../store.js'
import { type BlockFormat, lz4Blocks, zstdBlocks } from './blocks.js'
import { type Header, MAX_BLOCK_BYTES, MIN_BLOCK_BYTES, storedBound } from './container.js'
import { IdentityExtraction, ZstdExtraction } from './extraction.js'
import { Pack } from './pack.js'
import { findStart, INDEX_FROM_BYTES, type Start } from './seek-index.js'
import { Unpack } from './unpack.js'
import { UploadEncoder } from './upload-encoder.js'

interface CompressionParts {
  readonly format: BlockFormat
  /** Blobs written with larger blocks are refused before memory is taken for them. */
  readonly maxBlockBytes: number
  /** Longer frames of a zstd upload are not kept as they came. */
  readonly maxFrameBytes: number
}

/**
 * Keeps blobs compressed in its backend, in a container of its own. A damaged or torn blob is DATA_LOSS once and then a
 * miss: it is removed before the reader hears of it. Blobs in zstd come and go as they are kept where a client wants zstd.
 * For backends where bytes are dearer than CPU, and for clients that compress.
 */
export class CompressionStore implements Store {
  readonly compressed: CompressedBlobs | undefined
  readonly #backend: Store
  readonly #parts: CompressionParts

  constructor(backend: Store, parts: CompressionParts) {
    this.#backend = backend
    this.#parts = parts
    if (parts.format.header.algorithm !== 'zstd') return
    this.compressed = {
      compressor: 'ZSTD',
      reader: (digest, call) => this.#readCompressed(digest, call),
      writer: (digest, call) => this.#writeCompressed(digest, call),
    }
  }

  findMissing(digests: readonly Digest[], call: Call): Promise<Digest[]> {
    return this.#backend.findMissing(digests, call)
  }

  findMissingIn(batch: DigestBatch, call: Call): Promise<DigestBatch> {
    return findMissingIn(this.#backend, batch, call)
  }

  async reader(digest: Digest, range: Range, call: Call): Promise<ReadPath> {
    if (range.offset > INDEX_FROM_BYTES) {
      const start = await findStart(this.#backend, digest, range, call)
      if (start !== undefined) return this.#readFrom(start, digest, range, call)
    }
    const path = await this.#backend.reader(digest, { offset: 0, limit: storedBound(range.offset + range.limit) }, call)
    const extract = (header: Header) => new IdentityExtraction(this.#accepted(header), range, 0)
    return [...path, new Unpack({ extract, repair: () => this.remove(digest, call) })]
  }

  async writer(digest: Digest, call: Call): Promise<WritePath> {
    return [new Pack(this.#parts.format), ...(await this.#backend.writer(digest, call))]
  }

  remove(digest: Digest, call: Call): Promise<void> {
    return this.#backend.remove(digest, call)
  }

  async health(call: Call): Promise<HealthStatus> {
    return { ...(await this.#backend.health(call)), structName: CompressionStore.name }
  }

  /** The index and the records are read one after the other: what was replaced in between must not pass for damaged. */
  async #readFrom(start: Start, digest: Digest, range: Range, call: Call): Promise<ReadPath> {
    const { header, position, storedAt, storedEnd } = start
    const repair = async (): Promise<void> => {
      const now = await findStart(this.#backend, digest, range, call)
      const isAsRead = now?.storedAt === storedAt && now.position === position && now.storedEnd === storedEnd
      if (isAsRead) await this.remove(digest, call)
    }
    const extract = () => new IdentityExtraction(this.#accepted(header), range, position)
    const path = await this.#backend.reader(digest, { offset: storedAt, limit: storedEnd - storedAt }, call)
    return [...path, new Unpack({ header, extract, repair })]
  }

  async #readCompressed(digest: Digest, call: Call): Promise<ReadPath> {
    const path = await this.#backend.reader(digest, { offset: 0, limit: Number.POSITIVE_INFINITY }, call)
    const extract = (header: Header) => new ZstdExtraction(this.#accepted(header))
    return [...path, new Unpack({ extract, repair: () => this.remove(digest, call) })]
  }

  async #writeCompressed(digest: Digest, call: Call): Promise<WritePath> {
    return [new UploadEncoder(digest, this.#parts), ...(await this.#backend.writer(digest, call))]
  }

  #accepted(header: Header): Header {
    // Memory is taken for a whole block of LZ4 only.
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
