import type { Call } from '../base/call.js'
import type { HealthStatus } from '../base/health.js'
import type { VerifyOptions } from '../config/config.js'
import type { Digest } from '../reapi/digest.js'
import type { DigestBatch } from '../reapi/digest-batch.js'
import { isWhole, type Range, type ReadPath, type WritePath } from '../stream/path.js'
import { Verify, verifyBytes } from '../stream/verify.js'
import type { StoreKind } from './kind.js'
import { type CompressedBlobs, findMissingIn, readBytes, type Store, writeBytes } from './store.js'
import { VerifyDecoded } from './verify/verify-decoded.js'

/**
 * Checks blobs against their digest on both ways. What the backend returns wrong is removed there before the reader
 * hears of it, so that the next reader finds a miss. A part of a blob cannot be checked and passes as it is.
 *
 * For a CAS on a backend that may be damaged or shared with others; never for an action cache, whose digests do not
 * describe the bytes.
 */
class VerifyStore implements Store {
  readonly checksUploads: boolean
  readonly compressed: CompressedBlobs | undefined
  readonly #backend: Store
  readonly #checks: { readonly checksSize: boolean; readonly checksHash: boolean }

  constructor(backend: Store, { verify_size: checksSize, verify_hash: checksHash }: VerifyOptions) {
    this.#backend = backend
    this.#checks = { checksSize, checksHash }
    this.checksUploads = checksSize && checksHash
    this.compressed = backend.compressed && this.#compressedBlobs(backend.compressed)
  }

  get files(): Store['files'] {
    return this.#backend.files
  }

  findMissing(digests: readonly Digest[], call: Call): Promise<Digest[]> {
    return this.#backend.findMissing(digests, call)
  }

  findMissingIn(batch: DigestBatch, call: Call): Promise<DigestBatch> {
    return findMissingIn(this.#backend, batch, call)
  }

  async reader(digest: Digest, range: Range, call: Call): Promise<ReadPath> {
    const path = await this.#backend.reader(digest, range, call)
    if (!isWhole(range, digest.sizeBytes)) return path
    const repair = () => this.remove(digest, call)
    return [...path, new Verify(digest, { ...this.#checks, fault: 'backend', repair })]
  }

  async writer(digest: Digest, call: Call): Promise<WritePath> {
    const path = await this.#backend.writer(digest, call)
    return [new Verify(digest, { ...this.#checks, fault: 'client' }), ...path]
  }

  async readBytes(digest: Digest, maxBytes: number, call: Call): Promise<Buffer> {
    const bytes = await readBytes(this.#backend, digest, maxBytes, call)
    await verifyBytes(digest, bytes, { ...this.#checks, fault: 'backend', repair: () => this.remove(digest, call) })
    return bytes
  }

  async writeBytes(digest: Digest, bytes: Buffer, call: Call): Promise<void> {
    await verifyBytes(digest, bytes, { ...this.#checks, fault: 'client' })
    await writeBytes(this.#backend, digest, bytes, call)
  }

  remove(digest: Digest, call: Call): Promise<void> {
    return this.#backend.remove(digest, call)
  }

  async health(call: Call): Promise<HealthStatus> {
    return { ...(await this.#backend.health(call)), structName: VerifyStore.name }
  }

  /** What is read is decompressed beside the bytes that pass; what is written, the backend has to decompress and check. */
  #compressedBlobs(backend: CompressedBlobs): CompressedBlobs {
    const { compressor } = backend
    return {
      compressor,
      reader: async (digest, call) => {
        const path = await backend.reader(digest, call)
        const repair = () => this.remove(digest, call)
        return [...path, new VerifyDecoded(digest, compressor, { ...this.#checks, fault: 'backend', repair })]
      },
      writer: (digest, call) => backend.writer(digest, call),
    }
  }
}

export const verify: StoreKind<VerifyOptions> = {
  build: async (options, context) => new VerifyStore(await context.child(options.backend, 'backend'), options),
}
