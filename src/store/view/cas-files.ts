import type { BlobFiles, BlobLease, FinishedFile, LocatedBlob, ReservedFile } from '../../blobs/store.js'
import type { Digest } from '../../reapi/digest.js'
import type { Call } from '../../rpc/call.js'

/** Blobs as files, including the empty blob, which no store keeps. */
export class CasFiles implements BlobFiles {
  readonly #files: BlobFiles

  constructor(files: BlobFiles) {
    this.#files = files
  }

  async lease(digests: readonly Digest[], call: Call): Promise<BlobLease> {
    const lease = await this.#files.lease(withoutEmpty(digests), call)
    return {
      missing: lease.missing,
      extend: (more) => lease.extend(withoutEmpty(more)),
      release: () => lease.release(),
    }
  }

  async locate(digest: Digest, isExecutable: boolean): Promise<LocatedBlob> {
    return digest.isEmpty ? { bytes: Buffer.alloc(0) } : this.#files.locate(digest, isExecutable)
  }

  async populate(digest: Digest, call: Call): Promise<void> {
    if (!digest.isEmpty) await this.#files.populate(digest, call)
  }

  async populateTree(...asked: Parameters<NonNullable<BlobFiles['populateTree']>>): Promise<void> {
    await this.#files.populateTree?.(...asked)
  }

  async drop(digest: Digest, call: Call): Promise<void> {
    if (!digest.isEmpty) await this.#files.drop(digest, call)
  }

  maxBlobBytes(call: Call): Promise<number> {
    return this.#files.maxBlobBytes(call)
  }

  reserve(call: Call): Promise<ReservedFile> {
    return this.#files.reserve(call)
  }

  adopt(digest: Digest, file: FinishedFile, call: Call): Promise<void> {
    return this.#files.adopt(digest, file, call)
  }
}

/** The non-empty digests; the same array when none is empty. */
export const withoutEmpty = (digests: readonly Digest[]): readonly Digest[] =>
  digests.some(({ isEmpty }) => isEmpty) ? digests.filter(({ isEmpty }) => !isEmpty) : digests
