import { inWordsOfClients } from '../../blobs/error-words.js'
import { ForwardingStore } from '../../blobs/forwarding.js'
import type {
  BlobChunks,
  BlobFiles,
  BlobLease,
  FinishedFile,
  LocatedBlob,
  ReservedFile,
  Store,
} from '../../blobs/store.js'
import type { Digest } from '../../reapi/digest.js'
import { DigestBatch } from '../../reapi/digest-batch.js'
import type { Call } from '../../rpc/call.js'
import type { Blob } from '../../stream/blob/blob.js'
import type { Range } from '../../stream/path.js'

/**
 * The view of one instance on a store that it shares with others. The instance finds only blobs that it wrote itself,
 * whatever digest it asks for. The same store and instance always give the same object, so that concurrent uploads of a
 * blob are joined within an instance and never across instances.
 */
export const isolatedView = (store: Store, instanceName: string): Store => {
  const views = viewsOf.get(store) ?? new Map<string, Store>()
  viewsOf.set(store, views)
  const view = views.get(instanceName) ?? new IsolatedStore(store, instanceName)
  views.set(instanceName, view)
  return view
}

const viewsOf = new WeakMap<Store, Map<string, Store>>()

class IsolatedStore extends ForwardingStore {
  readonly #instanceName: string
  readonly #files: BlobFiles | undefined

  constructor(backend: Store, instanceName: string) {
    super(backend)
    this.#instanceName = instanceName
    this.#files = backend.files && new IsolatedFiles(backend.files, instanceName)
  }

  override get files(): BlobFiles | undefined {
    return this.#files
  }

  get chunks(): BlobChunks | undefined {
    const { chunks } = this.backend
    return chunks && isolatedChunks(chunks, (digest) => this.keyOf(digest))
  }

  override findMissing(digests: DigestBatch, call: Call): Promise<DigestBatch> {
    return askedAs(
      digests,
      (digest) => this.keyOf(digest),
      (keys) => this.backend.findMissing(keys, call),
    )
  }

  override get(digest: Digest, range: Range, call: Call): Promise<Blob> {
    return super.get(digest, range, call).catch((error: unknown) => {
      throw inWordsOfClients(error, this.keyOf(digest), digest)
    })
  }

  protected override keyOf(digest: Digest): Digest {
    return digest.isolatedFor(this.#instanceName)
  }
}

/** The lists of one instance. The store below keeps their chunks under keys of the instance too. */
const isolatedChunks = (chunks: BlobChunks, keyOf: (digest: Digest) => Digest): BlobChunks => {
  const inWords = <T>(digest: Digest, work: Promise<T>): Promise<T> =>
    work.catch((error: unknown) => {
      throw inWordsOfClients(error, digest, digest.content)
    })
  return {
    chunking: chunks.chunking,
    listOf: (digest, call) => inWords(keyOf(digest), chunks.listOf(keyOf(digest), call)),
    splice: (digest, list, call) => inWords(keyOf(digest), chunks.splice(keyOf(digest), list, call)),
  }
}

/** The files of one instance: a worker can link only inputs that the instance wrote. */
class IsolatedFiles implements BlobFiles {
  readonly #files: BlobFiles
  readonly #instanceName: string

  constructor(files: BlobFiles, instanceName: string) {
    this.#files = files
    this.#instanceName = instanceName
  }

  async lease(digests: readonly Digest[], call: Call): Promise<BlobLease> {
    const lease = await this.#files.lease(this.#keysOf(digests), call)
    return {
      missing: contentsOf(lease.missing),
      extend: async (more) => contentsOf(await lease.extend(this.#keysOf(more))),
      release: () => lease.release(),
    }
  }

  locate(digest: Digest, isExecutable: boolean): Promise<LocatedBlob> {
    return this.#files.locate(digest.isolatedFor(this.#instanceName), isExecutable)
  }

  maxBlobBytes(call: Call): Promise<number> {
    return this.#files.maxBlobBytes(call)
  }

  reserve(call: Call): Promise<ReservedFile> {
    return this.#files.reserve(call)
  }

  adopt(digest: Digest, file: FinishedFile, call: Call): Promise<void> {
    return this.#files.adopt(digest.isolatedFor(this.#instanceName), file, call)
  }

  populate(digest: Digest, call: Call): Promise<void> {
    return this.#files.populate(digest.isolatedFor(this.#instanceName), call)
  }

  async populateTree(root: Digest, call: Call): Promise<void> {
    await this.#files.populateTree?.(root.isolatedFor(this.#instanceName), call)
  }

  drop(digest: Digest, call: Call): Promise<void> {
    return this.#files.drop(digest.isolatedFor(this.#instanceName), call)
  }

  #keysOf(digests: readonly Digest[]): readonly Digest[] {
    return digests.map((digest) => digest.isolatedFor(this.#instanceName))
  }
}

const contentsOf = (digests: readonly Digest[]): readonly Digest[] => digests.map(({ content }) => content)

/** Asks about digests under mapped names and returns the answer in the original digests. */
export const askedAs = async (
  digests: DigestBatch,
  nameOf: (digest: Digest) => Digest,
  ask: (named: DigestBatch) => Promise<DigestBatch>,
): Promise<DigestBatch> => {
  const answer = await ask(DigestBatch.of(digests.digests().map(nameOf)).as(digests))
  return digests.select(Array.from({ length: answer.count }, (_, index) => answer.positionOf(index)))
}
