import { ForwardingStore } from '../../blobs/forwarding.js'
import {
  type BlobChunks,
  type BlobEntry,
  type BlobFiles,
  type Outcomes,
  outcomeOf,
  type Removal,
  type Store,
} from '../../blobs/store.js'
import type { Digest } from '../../reapi/digest.js'
import type { DigestBatch } from '../../reapi/digest-batch.js'
import type { Call } from '../../rpc/call.js'
import { Blob } from '../../stream/blob/blob.js'
import { extentOf, type Range } from '../../stream/path.js'
import { putInGroups } from '../partition/put-in-groups.js'
import { CasFiles } from './cas-files.js'

/**
 * Wraps a store as content-addressable storage. The empty blob is always present and never stored, as REAPI requires.
 * Every upload is checked against its digest; a mismatch is the client's error.
 */
export const asCas = (store: Store): Store => new Cas(store)

class Cas extends ForwardingStore {
  readonly #files: BlobFiles | undefined

  constructor(backend: Store) {
    super(backend)
    this.#files = backend.files && new CasFiles(backend.files)
  }

  override get files(): BlobFiles | undefined {
    return this.#files
  }

  get chunks(): BlobChunks | undefined {
    return this.backend.chunks
  }

  override findMissing(digests: DigestBatch, call: Call): Promise<DigestBatch> {
    return this.backend.findMissing(digests.withoutEmpty(), call)
  }

  override get(digest: Digest, range: Range, call: Call): Promise<Blob> {
    return digest.isEmpty ? emptyBlob(digest, range) : this.backend.get(digest, range, call)
  }

  override lacks(digest: Digest, call: Call): boolean {
    return !digest.isEmpty && this.backend.lacks(digest, call)
  }

  override put(digest: Digest, blob: Blob, call: Call): Promise<void> {
    const checked = this.incoming(blob, digest)
    return digest.isEmpty ? checked.drain(call.signal) : this.backend.put(digest, checked, call)
  }

  override putAll(entries: readonly BlobEntry[], call: Call): Promise<Outcomes> {
    const isEmpty = ({ digest }: BlobEntry): boolean => digest.isEmpty
    return putInGroups(entries, isEmpty, (areEmpty, some) =>
      areEmpty
        ? Promise.all(some.map(({ digest, blob }) => outcomeOf(this.put(digest, blob, call))))
        : super.putAll(some, call),
    )
  }

  override async remove(digest: Digest, why: Removal, call: Call): Promise<void> {
    if (!digest.isEmpty) await this.backend.remove(digest, why, call)
  }

  protected override incoming(blob: Blob, digest: Digest): Blob {
    return blob.verify(digest, { fault: 'client' })
  }
}

const emptyBlob = async (digest: Digest, range: Range): Promise<Blob> => {
  extentOf(range, 0, digest.key)
  return Blob.ofBytes(NO_BYTES).assumeVerified(digest)
}

const NO_BYTES = Buffer.alloc(0)
