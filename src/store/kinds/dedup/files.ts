import { open } from 'node:fs/promises'
import { isStatus, StatusError } from '../../../base/status-error.js'
import {
  type BlobFiles,
  type BlobLease,
  type FinishedFile,
  type LocatedBlob,
  missingOf,
  outcomeOf,
  type ReservedFile,
  type Store,
} from '../../../blobs/store.js'
import type { Digest } from '../../../reapi/digest.js'
import { DigestBatch } from '../../../reapi/digest-batch.js'
import type { Call } from '../../../rpc/call.js'
import { Blob } from '../../../stream/blob/blob.js'
import { STAGE_BYTES, WHOLE } from '../../../stream/path.js'
import { SingleFlight } from '../../../work/single-flight.js'

export interface DedupFilesParts {
  /** The store of chunks, which decides what exists. */
  readonly store: Store
  readonly content: BlobFiles
  /** Holds copies of larger blobs as files, within its limits. */
  readonly whole: Store
  readonly wholeFiles: BlobFiles
  /** Whether the stores of lists and chunks find out by themselves that bytes have changed. */
  readonly detectsDamage: boolean
  /** The chunks of a larger blob, as the content store knows them. Rejects with NOT_FOUND. */
  readonly chunksOf: (digest: Digest, call: Call) => Promise<readonly Digest[]>
  /** Whether a blob is no larger than a chunk, so that the content store has it as it is. */
  readonly isPlain: (digest: Digest) => boolean
}

/**
 * Blobs as files: one of chunk size is a file of the content store. A larger one is joined into a file of the store for
 * whole files when an action needs it, and an output of an action stays there as the file that the action made.
 */
export class DedupFiles implements BlobFiles {
  readonly #parts: DedupFilesParts
  readonly #joining = new SingleFlight<void>()

  constructor(parts: DedupFilesParts) {
    this.#parts = parts
  }

  /** Counts as a use of the chunks of larger blobs, because a link reads none of them. */
  async lease(digests: readonly Digest[], call: Call): Promise<BlobLease> {
    const { store, content, wholeFiles } = this.#parts
    const { plain, larger } = this.#split(digests)
    const leases = [await content.lease(plain, call)]
    try {
      leases.push(await wholeFiles.lease(larger, call))
      await missingOf(store, larger, call)
    } catch (error) {
      for (const lease of leases) lease.release()
      throw error
    }
    return this.#joined(leases)
  }

  async locate(digest: Digest, isExecutable: boolean): Promise<LocatedBlob> {
    return this.#filesOf(digest).locate(digest, isExecutable)
  }

  async populate(digest: Digest, call: Call): Promise<void> {
    const { store, content, whole } = this.#parts
    if (this.#parts.isPlain(digest)) {
      // This also puts together an older list.
      if ((await store.findMissing(DigestBatch.of([digest]), call)).count > 0) throw gone(digest)
      return content.populate(digest, call)
    }
    await this.#joining.run(digest.key, async () => {
      if ((await whole.findMissing(DigestBatch.of([digest]), call)).count === 0) return
      if (await this.#link(digest, call)) return
      const blob = await store.get(digest, WHOLE, call)
      // It was checked when its list was written, and the stores of list and chunks detect damage.
      await whole.put(
        digest,
        this.#parts.detectsDamage ? blob.assumeVerified(digest) : blob.verify(digest, { fault: 'backend' }),
        call,
      )
    })
  }

  /** A blob of which no chunk was there before lies in one file, and needs no second one. */
  async #link(digest: Digest, call: Call): Promise<boolean> {
    const { content, wholeFiles, chunksOf } = this.#parts
    if (content.linkTogether === undefined) return false
    const { path } = await wholeFiles.reserve(call)
    const chunks = await chunksOf(digest, call).catch((error: unknown) => {
      // It is one entry, from when chunks were larger.
      if (isStatus(error, 'NOT_FOUND')) return []
      throw error
    })
    const file = await content.linkTogether(chunks, path).catch((error: unknown) => {
      call.log.debug('a blob is put together, because its file cannot be linked', { digest: digest.key, error })
      return undefined
    })
    if (file === undefined) return false
    await wholeFiles.adopt(digest, file, call)
    return true
  }

  drop(digest: Digest, call: Call): Promise<void> {
    return this.#filesOf(digest).drop(digest, call)
  }

  /** A larger file than the store for whole files takes is kept as chunks alone. */
  maxBlobBytes(call: Call): Promise<number> {
    return this.#parts.content.maxBlobBytes(call)
  }

  reserve(call: Call): Promise<ReservedFile> {
    return this.#parts.content.reserve(call)
  }

  async adopt(digest: Digest, file: FinishedFile, call: Call): Promise<void> {
    const { store, content, wholeFiles } = this.#parts
    if (this.#parts.isPlain(digest)) return content.adopt(digest, file, call)
    const source = (await open(file.path)).createReadStream({ highWaterMark: STAGE_BYTES })
    const blob = Blob.ofPath([source], { sizeBytes: file.sizeBytes })
    await store.put(digest, blob.verify(digest, { fault: 'client' }), call)
    const failure = await outcomeOf(wholeFiles.adopt(digest, file, call))
    // The chunks are kept, which is what the caller asked for.
    if (failure !== undefined) call.log.debug('an output is not kept as a file', { digest: digest.key, error: failure })
  }

  #filesOf(digest: Digest): BlobFiles {
    return this.#parts.isPlain(digest) ? this.#parts.content : this.#parts.wholeFiles
  }

  #split(digests: readonly Digest[]): { readonly plain: readonly Digest[]; readonly larger: readonly Digest[] } {
    const larger = digests.filter((digest) => !this.#parts.isPlain(digest))
    return { plain: larger.length === 0 ? digests : digests.filter(this.#parts.isPlain), larger }
  }

  #joined(leases: readonly BlobLease[]): BlobLease {
    return {
      missing: leases.flatMap(({ missing }) => missing),
      extend: async (digests) => {
        const { plain, larger } = this.#split(digests)
        const missing = await Promise.all(leases.map((lease, at) => lease.extend(at === 0 ? plain : larger)))
        return missing.flat()
      },
      release: () => {
        for (const lease of leases) lease.release()
      },
    }
  }
}

const gone = ({ key }: Digest): StatusError => new StatusError('NOT_FOUND', `blob ${key} is in no store`)
