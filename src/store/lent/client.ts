import { open } from 'node:fs/promises'
import type { HealthStatus } from '../../base/health.js'
import { Code, isStatus, StatusError } from '../../base/status-error.js'
import {
  BaseStore,
  type BlobEntry,
  type LocatedBlob,
  type Outcomes,
  outcomeOf,
  type Removal,
} from '../../blobs/store.js'
import { errorOf } from '../../proto/error-details.js'
import { type BlobPart, BlobPlace, type StoreResponse } from '../../proto/generated/remexec.worker.v1.js'
import type { Digest } from '../../reapi/digest.js'
import type { DigestBatch } from '../../reapi/digest-batch.js'
import type { Call } from '../../rpc/call.js'
import { Blob } from '../../stream/blob/blob.js'
import { extentOf, type Range } from '../../stream/path.js'
import { Batches } from './batches.js'
import { LentStoreFiles } from './client-files.js'
import { inPieces, LentStoreRequests, messageOf, messagesOf, type Scope, type WorkerMessage } from './requests.js'

const DIGESTS_AT_A_TIME = 10_000
const READS_AT_A_TIME = 256
const BYTES_AT_A_TIME = 1024 * 1024
/** Larger blobs are read and written as files. */
const MAX_MESSAGE_BYTES = 1024 * 1024
/** Maximum size of a blob for a store without files, i.e. of a result. */
const MAX_RESULT_BYTES = 8 * 1024 * 1024

/** The stores of the server that started this worker, used over the worker's connection. */
export class LentStoreClient {
  readonly cas: BaseStore
  readonly results: BaseStore
  readonly history: BaseStore
  readonly #requests: LentStoreRequests

  /** `send` returns whether there is a connection. */
  constructor(send: (message: WorkerMessage) => boolean) {
    this.#requests = new LentStoreRequests(send)
    this.cas = new LentStore(this.#requests, BlobPlace.CAS)
    this.results = new LentStore(this.#requests, BlobPlace.RESULTS)
    this.history = new LentStore(this.#requests, BlobPlace.HISTORY)
  }

  receive(response: StoreResponse): void {
    this.#requests.receive(response)
  }

  lost(): void {
    this.#requests.lost()
  }
}

const isAlike = (one: Scope, other: Scope): boolean =>
  one.function === other.function && one.instanceName === other.instanceName

interface WantedBytes {
  readonly digest: Digest
  readonly offset: number
  readonly maxBytes: number
}

/** A store of the server: sends requests for small blobs, and uses files for large ones. */
class LentStore extends BaseStore {
  override readonly files: LentStoreFiles | undefined
  readonly #requests: LentStoreRequests
  readonly #target: number
  readonly #reads: Batches<WantedBytes, BlobPart>

  constructor(requests: LentStoreRequests, target: number) {
    super()
    this.#requests = requests
    this.#target = target
    this.files = target === BlobPlace.CAS ? new LentStoreFiles(requests) : undefined
    this.#reads = new Batches({
      maxCount: READS_AT_A_TIME,
      maxBytes: BYTES_AT_A_TIME,
      bytesOf: ({ maxBytes }) => maxBytes,
      ask: async (scope, wanted) => {
        const parts = wanted.map(({ digest, ...part }) => ({ digest: messageOf(digest), ...part }))
        return (await requests.ask(scope, { read: { parts } })).parts
      },
    })
  }

  async findMissing(digests: DigestBatch, call: Call): Promise<DigestBatch> {
    const missing = new Set<string>()
    for (const piece of inPieces(digests.digests(), DIGESTS_AT_A_TIME)) {
      const [first] = piece
      if (first === undefined) continue
      const request = { findMissing: { digests: messagesOf(piece) } }
      const answer = await this.#requests.ask(first, request, call)
      for (const { hash, sizeBytes } of answer.missing?.digests ?? []) missing.add(`${hash}-${sizeBytes}`)
    }
    const isMissing = ({ content: { hash, sizeBytes } }: Digest): boolean => missing.has(`${hash}-${sizeBytes}`)
    return digests.select(digests.digests().flatMap((digest, index) => (isMissing(digest) ? [index] : [])))
  }

  async get(digest: Digest, range: Range, call: Call): Promise<Blob> {
    const { offset, end } = extentOf(range, digest.sizeBytes, digest.key)
    if (end - offset <= MAX_MESSAGE_BYTES) {
      const { data, failure } = await this.#reads.ask({ digest, offset, maxBytes: end - offset })
      if (failure !== null) throw errorOf(failure)
      return Blob.ofBytes(data, { offset })
    }
    const located = await this.#located(digest, call)
    if ('bytes' in located) return Blob.ofPart(located.bytes, range, digest.key)
    const file = await open(located.path).catch((cause: unknown) => {
      throw new StatusError('NOT_FOUND', `blob ${digest.key} is gone`, { cause })
    })
    return Blob.ofPath([file.createReadStream({ start: offset, end: end - 1 })], { sizeBytes: end - offset, offset })
  }

  /** The server's store may have no file of it yet. */
  #located(digest: Digest, call: Call): Promise<LocatedBlob> {
    return this.#lentFiles.locate(digest, false).catch(async (error: unknown) => {
      if (!isStatus(error, 'NOT_FOUND')) throw error
      await this.#lentFiles.populate(digest, call)
      return this.#lentFiles.locate(digest, false)
    })
  }

  async put(digest: Digest, blob: Blob, call: Call): Promise<void> {
    const [failure] = await this.putAll([{ digest, blob }], call)
    if (failure !== undefined) throw failure
  }

  /** Small blobs are sent in messages, several in one. A large one becomes a file, if this store has files. */
  override async putAll(entries: readonly BlobEntry[], call: Call): Promise<Outcomes> {
    const outcomes: (StatusError | undefined)[] = []
    let batch: BlobEntry[] = []
    let bytes = 0
    const flush = async (): Promise<void> => {
      if (batch.length > 0) outcomes.push(...(await this.#putBatch(batch, call)))
      batch = []
      bytes = 0
    }
    for (const entry of entries) {
      const sizeBytes = entry.blob.sizeBytes ?? entry.digest.sizeBytes
      if (this.files !== undefined && sizeBytes > MAX_MESSAGE_BYTES) {
        await flush()
        outcomes.push(await outcomeOf(this.files.write(entry.digest, entry.blob, call)))
        continue
      }
      const isOther = batch[0] !== undefined && !isAlike(batch[0].digest, entry.digest)
      if (isOther || bytes + sizeBytes > BYTES_AT_A_TIME) await flush()
      batch.push(entry)
      bytes += sizeBytes
    }
    await flush()
    return outcomes
  }

  async remove(digest: Digest, why: Removal, call: Call): Promise<void> {
    await this.#requests.ask(digest, { remove: { digest: messageOf(digest), isWrong: why === 'wrong' } }, call)
  }

  async health(): Promise<HealthStatus> {
    return { state: 'Ok', message: 'the store of the server' }
  }

  get #lentFiles(): LentStoreFiles {
    if (this.files === undefined)
      throw new StatusError('UNIMPLEMENTED', 'the stores of results and of history are write-only for a worker')
    return this.files
  }

  async #putBatch(entries: readonly BlobEntry[], call: Call): Promise<Outcomes> {
    const maxBytes = this.files === undefined ? MAX_RESULT_BYTES : MAX_MESSAGE_BYTES
    const read = await Promise.all(
      entries.map(async ({ digest, blob }) => {
        try {
          return { digest: messageOf(digest), data: await blob.bytes(maxBytes, call) }
        } catch (error) {
          return StatusError.from(error)
        }
      }),
    )
    const blobs = read.flatMap((one) => (one instanceof StatusError ? [] : [one]))
    const [first] = entries
    if (first === undefined || blobs.length === 0) return read.map(failureOf)
    const put = { blobs, into: this.#target }
    const asked = this.#requests.ask(first.digest, { put }, call)
    const failure = await outcomeOf(asked.then(() => {}))
    if (failure !== undefined) return read.map((one) => failureOf(one) ?? failure)
    const outcomes = (await asked).outcomes.values()
    return read.map((one) => {
      if (one instanceof StatusError) return one
      const status = outcomes.next().value
      return status === undefined || status.code === Code.OK ? undefined : errorOf(status)
    })
  }
}

const failureOf = (one: unknown): StatusError | undefined => (one instanceof StatusError ? one : undefined)
