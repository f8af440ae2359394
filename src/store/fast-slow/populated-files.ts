import type { Call } from '../../base/call.js'
import type { Digest } from '../../reapi/digest.js'
import type { BlobFiles, BlobLease } from '../store.js'

/** The files of a fast store, with the way to get blobs into them from the store behind. */
export class PopulatedFiles implements BlobFiles {
  readonly #files: BlobFiles
  readonly populate: BlobFiles['populate']

  constructor(files: BlobFiles, populate: (digest: Digest, call: Call) => Promise<void>) {
    this.#files = files
    this.populate = populate
  }

  lease(digests: readonly Digest[]): BlobLease {
    return this.#files.lease(digests)
  }

  link(digest: Digest, destination: string, isExecutable: boolean): Promise<void> {
    return this.#files.link(digest, destination, isExecutable)
  }

  drop(digest: Digest, call: Call): Promise<void> {
    return this.#files.drop(digest, call)
  }
}
