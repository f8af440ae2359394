import type { HealthStatus } from '../../../base/health.js'
import { Code, isStatus, StatusError } from '../../../base/status-error.js'
import {
  BaseStore,
  type BlobEntry,
  type FarTrees,
  type Outcomes,
  outcomeOf,
  PLAIN,
  type StoreProperties,
} from '../../../blobs/store.js'
import { ChunkWriter } from '../../../content/chunk-writer.js'
import type { Output } from '../../../proto/codec.js'
import type { Chunking } from '../../../reapi/chunking.js'
import type { Digest } from '../../../reapi/digest.js'
import { DigestBatch } from '../../../reapi/digest-batch.js'
import { type Call, callWith, internalCall } from '../../../rpc/call.js'
import { Blob } from '../../../stream/blob/blob.js'
import { extentOf, isWhole, type Range } from '../../../stream/path.js'
import { checkedOnReturn } from '../../remote/checked.js'
import { Batcher } from './batcher.js'
import type { Health } from './health.js'
import { type Naming, readName } from './names.js'
import { openRead } from './read.js'
import { METHODS, type RemoteServer } from './remote-server.js'
import { GrpcTrees } from './trees.js'
import { writeBlob } from './write.js'

export interface Batching {
  readonly maxBlobBytes: number
  readonly maxBatchBytes: number
  readonly slots: number
  readonly maxQueuedBytes: number
}

export interface CasStoreOptions {
  readonly server: RemoteServer
  readonly health: Health
  readonly isLegacy: boolean
  /** Undefined if each blob is sent in a call of its own. */
  readonly batching: Batching | undefined
  /** Whether zstd is used when the server announces it. */
  readonly usesZstd: boolean
  /** Whether larger blobs are sent as chunks when the server splices them. */
  readonly sendsChunks: boolean
}

type FindMissing = Output<'build.bazel.remote.execution.v2.FindMissingBlobsResponse'>
type BatchRead = Output<'build.bazel.remote.execution.v2.BatchReadBlobsResponse'>
type BatchUpdate = Output<'build.bazel.remote.execution.v2.BatchUpdateBlobsResponse'>

/** Announced chunks have at least a kibibyte on average, so smaller blobs are never cut: they need not wait for that answer. */
const SMALLEST_CUT_BYTES = 1024
/** Chunks are asked for together up to this size: over a slow link each request is a wait. Two such groups are in memory. */
const CHUNK_GROUP_BYTES = 8 * 1024 * 1024

/** Larger than any announced limit. The check reports a blob with more bytes than its digest says. */
const MOST_BATCHED_BYTES = 64 * 1024 * 1024

interface WholeBlob {
  readonly digest: Digest
  readonly bytes: Buffer
}

type WriteBatcher = Batcher<WholeBlob, StatusError | undefined>

/** Digests in one request: about 80 bytes each, within the usual message limit of 4 MiB. */
const QUESTION_DIGESTS = 30_000
/** Smaller blobs are not worth a zstd frame. */
const ZSTD_LEAST_BYTES = 1024

/** The CAS of another server. */
export class GrpcCasStore extends BaseStore {
  override readonly properties: StoreProperties
  readonly trees: FarTrees
  readonly #options: CasStoreOptions
  readonly #naming: Naming
  readonly #reads: Batcher<Digest, Buffer | StatusError> | undefined
  readonly #writes: WriteBatcher | undefined
  #announcedBatchBytes = 0

  constructor(options: CasStoreOptions) {
    super()
    this.#options = options
    this.trees = new GrpcTrees(options.server)
    this.properties = { ...PLAIN, encodings: options.usesZstd ? ['ZSTD'] : [], extendsLifetimes: true }
    this.#naming = { instanceName: options.server.instanceName, isLegacy: options.isLegacy }
    const { batching } = options
    if (batching === undefined) return
    const common = {
      maxBytes: () => Math.min(batching.maxBatchBytes, this.#announcedBatchBytes),
      maxQueuedBytes: batching.maxQueuedBytes,
      slots: batching.slots,
    }
    this.#reads = new Batcher({ ...common, send: (digests, signal) => this.#readTogether(digests, signal) })
    this.#writes = new Batcher({ ...common, send: (blobs, signal) => this.#writeTogether(blobs, signal) })
  }

  /** One request, as long as the digests fit in a message. */
  override async findMissing(digests: DigestBatch, call: Call): Promise<DigestBatch> {
    const missing: number[] = []
    for (let first = 0; first < digests.count; first += QUESTION_DIGESTS) {
      const count = Math.min(QUESTION_DIGESTS, digests.count - first)
      const asked = Array.from({ length: count }, (_, at) => digests.at(first + at))
      const request = { ...this.#named(asked[0]), blobDigests: asked.map((digest) => digest.toMessage()) }
      const answer = await this.#options.server.unary<FindMissing>(METHODS.findMissingBlobs, request, call)
      const absent = new Set(answer.missingBlobDigests.map(({ hash, sizeBytes }) => `${hash}/${sizeBytes}`))
      for (const [at, { hash, sizeBytes }] of asked.entries()) {
        if (absent.has(`${hash}/${sizeBytes}`)) missing.push(first + at)
      }
    }
    return digests.select(missing)
  }

  override async get(digest: Digest, range: Range, call: Call): Promise<Blob> {
    return checkedOnReturn(await this.#read(digest, range, call), digest, range)
  }

  async #read(digest: Digest, range: Range, call: Call): Promise<Blob> {
    const { offset, end } = extentOf(range, digest.sizeBytes, digest.key)
    const batcher = await this.#batcherFor(digest, this.#reads, call)
    // Concurrent reads may have taken the room meanwhile.
    if (batcher?.hasRoom(digest.sizeBytes)) {
      const answer = await batcher.add(digest, digest.sizeBytes, call.signal)
      if (!Buffer.isBuffer(answer)) throw answer
      return Blob.ofBytes(answer.subarray(offset, end), { offset })
    }
    if (offset === end && digest.sizeBytes > 0) return this.#emptyPart(digest, offset, call)
    const isZstd = isWhole(range, digest.sizeBytes) && (await this.#takesZstd(digest, call))
    return this.#stream(digest, offset, end, isZstd, call)
  }

  /** Verifies the bytes here, because the other server may report the blob as present before it checked them. */
  override async put(digest: Digest, given: Blob, call: Call): Promise<void> {
    const blob = given.verify(digest, { fault: 'client' })
    try {
      const chunking = await this.#chunkingFor(digest, call)
      if (chunking !== undefined) return await this.#putChunks(digest, blob, chunking, call)
      const batcher = await this.#batcherFor(digest, this.#writes, call)
      const bytes =
        batcher && (await blob.as('IDENTITY', digest.sizeBytes).bytes(MOST_BATCHED_BYTES, { signal: call.signal }))
      if (bytes !== undefined && batcher?.hasRoom(bytes.length)) {
        const failure = await batcher.add({ digest, bytes }, bytes.length, call.signal)
        if (failure !== undefined) throw failure
        return
      }
      const alone = bytes === undefined ? blob : Blob.ofBytes(bytes)
      const wire = (await this.#takesZstd(digest, call)) ? alone.as('ZSTD') : alone
      await writeBlob(this.#options.server, this.#naming, digest, wire, call)
    } finally {
      blob.discard()
    }
  }

  /** Starts all small blobs together, so that they form batches. */
  override async putAll(entries: readonly BlobEntry[], call: Call): Promise<Outcomes> {
    const outcomes: (StatusError | undefined)[] = []
    const small: Promise<unknown>[] = []
    for (const [at, { digest, blob }] of entries.entries()) {
      const putting = outcomeOf(this.put(digest, blob, call)).then((outcome) => {
        outcomes[at] = outcome
      })
      if (digest.sizeBytes <= (this.#options.batching?.maxBlobBytes ?? 0)) small.push(putting)
      else await putting
    }
    await Promise.all(small)
    return entries.map((_, at) => outcomes[at])
  }

  override async remove(digest: Digest): Promise<void> {
    throw new StatusError('UNIMPLEMENTED', `blob ${digest} is another server's, which offers no way to remove it`)
  }

  override health({ signal }: Call): Promise<HealthStatus> {
    return this.#options.health(signal)
  }

  async #stream(digest: Digest, offset: number, end: number, isZstd: boolean, call: Call): Promise<Blob> {
    const { server } = this.#options
    const name = readName(this.#naming, digest, isZstd)
    const open = (position: number, signal: AbortSignal) =>
      openRead(
        server,
        isZstd ? { name, offset: 0, limit: 0, end: undefined } : { name, offset: position, limit: end - position, end },
        callWith(call, { signal }),
      )
    const source = await server.requests.read(call, offset, open, { isResumable: !isZstd })
    if (!isZstd) return Blob.ofPath([source], { sizeBytes: end - offset, offset })
    return Blob.ofPath([source], { encoding: 'ZSTD' }).as('IDENTITY', digest.sizeBytes)
  }

  /** An empty range of a blob. Asks the server whether the blob exists. */
  async #emptyPart(digest: Digest, offset: number, call: Call): Promise<Blob> {
    const missing = await this.findMissing(DigestBatch.of([digest]), call)
    if (missing.count > 0) throw notFound(digest)
    return Blob.ofBytes(Buffer.alloc(0), { offset })
  }

  /** The batcher for a blob of this size; undefined if the blob needs a call of its own. */
  async #batcherFor<Joined extends { hasRoom(sizeBytes: number): boolean }>(
    { sizeBytes }: Digest,
    batcher: Joined | undefined,
    call: Call,
  ): Promise<Joined | undefined> {
    const { batching, server } = this.#options
    if (batching === undefined || sizeBytes > batching.maxBlobBytes) return undefined
    this.#announcedBatchBytes = (await server.announced(call)).maxBatchBytes
    return sizeBytes <= this.#announcedBatchBytes && batcher?.hasRoom(sizeBytes) === true ? batcher : undefined
  }

  async #chunkingFor({ sizeBytes, describesContent }: Digest, call: Call): Promise<Chunking | undefined> {
    const { sendsChunks, server } = this.#options
    if (!sendsChunks || !describesContent || sizeBytes <= SMALLEST_CUT_BYTES) return undefined
    const { chunking } = await server.announced(call)
    return chunking !== undefined && sizeBytes > chunking.maxBytes ? chunking : undefined
  }

  /** Sends the chunks that the server lacks, and their list. */
  async #putChunks(digest: Digest, blob: Blob, chunking: Chunking, call: Call): Promise<void> {
    const writer = new ChunkWriter(this, digest, call, CHUNK_GROUP_BYTES)
    const chunks = await writer.write(blob.as('IDENTITY', digest.sizeBytes), chunking)
    const chunkDigests = chunks.map((chunk) => chunk.toMessage())
    const list = { blobDigest: digest.toMessage(), chunkDigests, chunkingFunction: chunking.function }
    try {
      await this.#options.server.unary(METHODS.spliceBlob, { ...this.#named(digest), ...list }, call)
    } catch (error) {
      if (isStatus(error, 'ALREADY_EXISTS')) return
      // For a caller of `put` nothing can be absent: a chunk was evicted meanwhile.
      if (!isStatus(error, 'NOT_FOUND')) throw error
      throw new StatusError('UNAVAILABLE', `the server lost a chunk of blob ${digest}: send it again`, { cause: error })
    }
  }

  async #takesZstd(digest: Digest, call: Call): Promise<boolean> {
    const { usesZstd, server } = this.#options
    return usesZstd && digest.sizeBytes >= ZSTD_LEAST_BYTES && (await server.announced(call)).takesZstd
  }

  async #readTogether(digests: readonly Digest[], signal: AbortSignal): Promise<readonly (Buffer | StatusError)[]> {
    const asked = [...new Map(digests.map((digest) => [digest.key, digest])).values()]
    const request = { ...this.#named(asked[0]), digests: asked.map((digest) => digest.toMessage()) }
    const { responses } = await this.#options.server.unary<BatchRead>(
      METHODS.batchReadBlobs,
      request,
      internalCall({ signal }),
    )
    const answers = new Map<string, Buffer | StatusError>()
    for (const { digest, data, status } of responses) {
      answers.set(`${digest?.hash}/${digest?.sizeBytes}`, failureOf(status) ?? data)
    }
    return digests.map((digest) => {
      const answer = answers.get(`${digest.hash}/${digest.sizeBytes}`) ?? notFound(digest)
      if (!Buffer.isBuffer(answer) || answer.length === digest.sizeBytes) return answer
      return new StatusError('DATA_LOSS', `the server sent ${answer.length} bytes of blob ${digest}`)
    })
  }

  async #writeTogether(
    blobs: readonly WholeBlob[],
    signal: AbortSignal,
  ): Promise<readonly (StatusError | undefined)[]> {
    const requests = blobs.map(({ digest, bytes }) => ({ digest: digest.toMessage(), data: bytes }))
    const request = { ...this.#named(blobs[0]?.digest), requests }
    const { responses } = await this.#options.server.unary<BatchUpdate>(
      METHODS.batchUpdateBlobs,
      request,
      internalCall({ signal }),
    )
    const failures = new Map<string, StatusError | undefined>()
    for (const { digest, status } of responses) failures.set(`${digest?.hash}/${digest?.sizeBytes}`, failureOf(status))
    return blobs.map(({ digest: { hash, sizeBytes } }) => {
      const key = `${hash}/${sizeBytes}`
      return failures.has(key)
        ? failures.get(key)
        : new StatusError('INTERNAL', `the server sent no answer for blob ${key}`)
    })
  }

  #named(digest: Digest | undefined): { readonly instanceName: string; readonly digestFunction: number } {
    return { instanceName: this.#naming.instanceName, digestFunction: digest?.function.value ?? 0 }
  }
}

const notFound = (digest: Digest): StatusError =>
  new StatusError('NOT_FOUND', `blob ${digest} is not on the other server`)

const failureOf = (status: { readonly code: number; readonly message: string } | null): StatusError | undefined =>
  status === null || status.code === Code.OK ? undefined : new StatusError(status.code as Code, status.message)
