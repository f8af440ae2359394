import { Readable } from 'node:stream'
import type { Call } from '../base/call.js'
import type { HealthStatus } from '../base/health.js'
import type { Digest } from '../reapi/digest.js'
import type { DigestBatch } from '../reapi/digest-batch.js'
import { pastEnd, type Range, type ReadPath, type WritePath } from '../stream/path.js'
import { faultOf, Verify, verifyBytes } from '../stream/verify.js'
import { compressedCas } from './cas-compressed.js'
import { CasFiles, withoutEmpty } from './cas-files.js'
import { Drain } from './drain.js'
import {
  type BlobBytes,
  type BlobFiles,
  type CompressedBlobs,
  findMissingIn,
  readBytes,
  type Store,
  type WriteOutcomes,
  writeBlobs,
  writeBytes,
} from './store.js'

/**
 * A store as content-addressable storage: what every store that serves as a CAS is wrapped in. The empty blob is always
 * present and never stored (REAPI asks for that), and every upload is checked against its digest, at the client's fault.
 */
export const asCas = (store: Store): Store => new Cas(store)

class Cas implements Store {
  readonly checksUploads = true
  readonly files: BlobFiles | undefined
  readonly compressed: CompressedBlobs | undefined
  readonly #backend: Store

  constructor(backend: Store) {
    this.#backend = backend
    this.files = backend.files && new CasFiles(backend.files)
    this.compressed = backend.compressed && compressedCas(backend.compressed)
  }

  get keepsNothing(): boolean {
    return this.#backend.keepsNothing === true
  }

  findMissing(digests: readonly Digest[], call: Call): Promise<Digest[]> {
    return this.#backend.findMissing(withoutEmpty(digests), call)
  }

  findMissingIn(batch: DigestBatch, call: Call): Promise<DigestBatch> {
    return findMissingIn(this.#backend, batch.withoutEmpty(), call)
  }

  async reader(digest: Digest, range: Range, call: Call): Promise<ReadPath> {
    if (!digest.isEmpty) return this.#backend.reader(digest, range, call)
    if (range.offset > 0) throw pastEnd(digest.key, range.offset, 0)
    return [Readable.from([], { objectMode: false })]
  }

  async writer(digest: Digest, call: Call): Promise<WritePath> {
    if (digest.isEmpty) return [new Verify(digest, { fault: 'client' }), new Drain()]
    const path = await this.#backend.writer(digest, call)
    return this.#backend.checksUploads === true ? path : [new Verify(digest, { fault: 'client' }), ...path]
  }

  readBytes(digest: Digest, maxBytes: number, call: Call): Promise<Buffer> {
    return digest.isEmpty ? Promise.resolve(EMPTY) : readBytes(this.#backend, digest, maxBytes, call)
  }

  async writeBytes(digest: Digest, bytes: Buffer, call: Call): Promise<void> {
    if (digest.isEmpty || this.#backend.checksUploads !== true) await verifyBytes(digest, bytes, { fault: 'client' })
    if (!digest.isEmpty) await writeBytes(this.#backend, digest, bytes, call)
  }

  async writeBlobs(blobs: readonly BlobBytes[], call: Call): Promise<WriteOutcomes> {
    const checksAll = this.#backend.checksUploads !== true
    const outcomes = blobs.map(({ digest, bytes }) =>
      checksAll || digest.isEmpty ? faultOf(digest, bytes, { fault: 'client' }) : undefined,
    )
    const isWritten = ({ digest }: BlobBytes, index: number): boolean =>
      outcomes[index] === undefined && !digest.isEmpty
    const written = await writeBlobs(this.#backend, blobs.filter(isWritten), call)
    let next = 0
    return blobs.map((blob, index) => (isWritten(blob, index) ? written[next++] : outcomes[index]))
  }

  async remove(digest: Digest, call: Call): Promise<void> {
    if (!digest.isEmpty) await this.#backend.remove(digest, call)
  }

  health(call: Call): Promise<HealthStatus> {
    return this.#backend.health(call)
  }
}

const EMPTY = Buffer.alloc(0)
