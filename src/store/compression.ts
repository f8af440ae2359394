import type { Call } from '../base/call.js'
import type { HealthStatus } from '../base/health.js'
import { StatusError } from '../base/status-error.js'
import type { CompressionOptions } from '../config/config.js'
import type { Digest } from '../reapi/digest.js'
import type { Range, ReadPath, WritePath } from '../stream/path.js'
import { MIN_BLOCK_BYTES, storedBound } from './compression/container.js'
import type { Lz4Decoder } from './compression/decoder.js'
import type { Lz4Encoder } from './compression/encoder.js'
import type { StoreKind } from './kind.js'
import type { Store } from './store.js'

interface Stages {
  readonly Decoder: typeof Lz4Decoder
  readonly Encoder: typeof Lz4Encoder
}

/** The native code of lz4 takes 30 ms to load, which only who configures it should pay. */
const loadStages = async (): Promise<Stages> => {
  const [decoder, encoder] = await Promise.all([import('./compression/decoder.js'), import('./compression/encoder.js')])
  return { Decoder: decoder.Lz4Decoder, Encoder: encoder.Lz4Encoder }
}

/**
 * Keeps blobs compressed in its backend, in a container of its own. A damaged or torn blob is DATA_LOSS once and then a
 * miss: it is removed before the reader hears of it. For backends where bytes are dearer than CPU.
 */
class CompressionStore implements Store {
  readonly #backend: Store
  readonly #blockBytes: number
  readonly #maxBlockBytes: number
  readonly #stages: Stages

  constructor(backend: Store, blockBytes: number, maxBlockBytes: number, stages: Stages) {
    this.#stages = stages
    this.#backend = backend
    this.#blockBytes = blockBytes
    this.#maxBlockBytes = maxBlockBytes
  }

  findMissing(digests: readonly Digest[], call: Call): Promise<Digest[]> {
    return this.#backend.findMissing(digests, call)
  }

  async reader(digest: Digest, range: Range, call: Call): Promise<ReadPath> {
    const path = await this.#backend.reader(digest, { offset: 0, limit: storedBound(range.offset + range.limit) }, call)
    const repair = () => this.remove(digest, call)
    return [...path, new this.#stages.Decoder({ range, maxBlockBytes: this.#maxBlockBytes, repair })]
  }

  async writer(digest: Digest, call: Call): Promise<WritePath> {
    const path = await this.#backend.writer(digest, call)
    return [new this.#stages.Encoder(this.#blockBytes), ...path]
  }

  remove(digest: Digest, call: Call): Promise<void> {
    return this.#backend.remove(digest, call)
  }

  async health(call: Call): Promise<HealthStatus> {
    return { ...(await this.#backend.health(call)), structName: CompressionStore.name }
  }
}

export const compression: StoreKind<CompressionOptions> = {
  build: async ({ backend, compression_algorithm: { lz4 } }, context) => {
    const blockBytes = lz4.block_size
    const maxBlockBytes = lz4.max_decode_block_size === 0 ? blockBytes : lz4.max_decode_block_size
    if (blockBytes < MIN_BLOCK_BYTES || maxBlockBytes < blockBytes) {
      const found = `block_size ${blockBytes} and max_decode_block_size ${maxBlockBytes}`
      const expected = `at least ${MIN_BLOCK_BYTES} bytes, and the second not below the first`
      throw new StatusError('INVALID_ARGUMENT', `lz4 cannot work with ${found}, expected ${expected}`)
    }
    return new CompressionStore(await context.child(backend, 'backend'), blockBytes, maxBlockBytes, await loadStages())
  },
}
