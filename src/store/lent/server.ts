import { unlink } from 'node:fs/promises'
import { StatusError } from '../../base/status-error.js'
import { type BlobFiles, type BlobLease, missingOf, type Store } from '../../blobs/store.js'
import type { Input } from '../../proto/codec.js'
import { statusOf } from '../../proto/error-details.js'
import {
  type AdoptFile,
  BlobPlace,
  type PutBlobs,
  type StoreRequest,
  type WantedFile,
  type WantedPart,
} from '../../proto/generated/remexec.worker.v1.js'
import { Digest, type DigestMessage, resolveDigestFunction } from '../../reapi/digest.js'
import { type DigestFunction, digestFunctions } from '../../reapi/digest-function.js'
import { type Call, callWith, internalCall } from '../../rpc/call.js'
import { spanElsewhere, type Tracer } from '../../rpc/trace.js'
import { Blob } from '../../stream/blob/blob.js'
import { boundedMap, LANES } from '../../work/bounded-map.js'
import { Semaphore } from '../../work/semaphore.js'
import { isolatedView } from '../view/isolated.js'

/** The stores of the server that a worker on the same machine may use. */
export interface LentStores {
  /** A CAS view. */
  readonly cas: Store
  /** The action cache, if the worker writes results itself. */
  readonly results: Store | undefined
  /** A CAS view of the store for complete responses. */
  readonly history: Store
  readonly tracer?: Tracer | undefined
}

export type LentStoreResponse = Omit<Input<'remexec.worker.v1.StoreResponse'>, 'id'>

const AT_A_TIME = 32
/** Maximum size of one read. Workers ask for less; a larger answer is cut. */
const MAX_PART_BYTES = 4 * 1024 * 1024
const MAX_LEASES = 100_000

const functions = Object.values(digestFunctions)

/** Serves the store requests of one worker connection. Its leases and reserved files are freed with the connection. */
export class LentStoreServer {
  readonly #stores: LentStores
  readonly #call: Call
  readonly #slots = new Semaphore({ permits: AT_A_TIME })
  readonly #leases = new Map<number, Promise<BlobLease>>()
  /** Paths of reserved files that are not adopted yet. */
  readonly #reserved = new Set<string>()
  #isClosed = false

  constructor(stores: LentStores, call: Call) {
    this.#stores = stores
    this.#call = internalCall({ signal: call.signal, log: call.log })
  }

  /**
   * Serves the request when it gets a turn. The turn ends when `send` resolves, which bounds the answers in memory.
   * Failures are reported in the answer.
   */
  async receive(request: StoreRequest, send: (answer: LentStoreResponse) => Promise<void>): Promise<void> {
    if (request.release !== null) {
      this.#release(request.release.leaseId)
      return
    }
    const failed = (error: unknown): LentStoreResponse => ({ failure: statusOf(StatusError.from(error)) })
    const end = await this.#slots
      .acquire('a turn to use the stores', this.#call.signal)
      .catch(async (error: unknown) => {
        await send(failed(error))
      })
    if (end === undefined) return
    try {
      await send(await this.#do(request).catch(failed))
    } finally {
      end()
    }
  }

  /** Releases the worker's leases and deletes its reserved files. */
  close(): void {
    this.#isClosed = true
    for (const leaseId of [...this.#leases.keys()]) this.#release(leaseId)
    for (const path of this.#reserved) void unlink(path).catch(() => {})
    this.#reserved.clear()
  }

  /** The call for a request, as a child of the worker's span. */
  #callOf({ traceparent, tracestate }: StoreRequest): Call {
    const { tracer } = this.#stores
    if (tracer === undefined || traceparent === '') return this.#call
    return callWith(this.#call, { span: spanElsewhere(tracer, { traceparent, tracestate }) })
  }

  async #do(request: StoreRequest): Promise<LentStoreResponse> {
    const { findMissing, read, put, lease, locate, populate, drop, reserve, adopt, remove, limits, populateTree } =
      request
    const stores = lentAs(this.#stores, request.apart?.name)
    const { cas } = stores
    const call = this.#callOf(request)
    const digestOf = (message: DigestMessage | null): Digest => parse(message, request.digestFunction)
    if (findMissing !== null) return missing(await missingOf(cas, findMissing.digests.map(digestOf), call))
    if (read !== null)
      return { parts: await boundedMap(read.parts, LANES, (part) => this.#read(cas, part, digestOf, call)) }
    if (put !== null) return this.#put(stores, put, digestOf, call)
    if (lease !== null) return missing(await this.#lease(filesOf(cas), lease.leaseId, lease.digests.map(digestOf)))
    if (locate !== null) {
      return { located: await boundedMap(locate.files, LANES, (file) => this.#locate(filesOf(cas), file, digestOf)) }
    }
    if (limits !== null) return limitsOf(await filesOf(cas).maxBlobBytes(call))
    if (reserve !== null) return { place: await this.#reserve(filesOf(cas)) }
    if (adopt !== null) await this.#adopt(filesOf(cas), adopt, digestOf(adopt.digest), call)
    else if (populate !== null) await filesOf(cas).populate(digestOf(populate.digest), call)
    else if (populateTree !== null) await filesOf(cas).populateTree?.(digestOf(populateTree.digest), call)
    else if (drop !== null) await filesOf(cas).drop(digestOf(drop.digest), call)
    else if (remove !== null) await cas.remove(digestOf(remove.digest), remove.isWrong ? 'wrong' : 'unwanted', call)
    else throw new StatusError('UNIMPLEMENTED', 'a store request of a later protocol: run the same release')
    return {}
  }

  async #read(
    cas: Store,
    { digest, offset, maxBytes }: WantedPart,
    digestOf: ParseDigest,
    call: Call,
  ): Promise<PartAnswer> {
    try {
      const limit = Math.min(maxBytes, MAX_PART_BYTES)
      const blob = await cas.get(digestOf(digest), { offset, limit }, call)
      return { data: await blob.bytes(limit, call) }
    } catch (error) {
      return { failure: statusOf(StatusError.from(error)) }
    }
  }

  async #put(
    { cas, results, history }: LentStores,
    { blobs, into }: PutBlobs,
    digestOf: ParseDigest,
    call: Call,
  ): Promise<LentStoreResponse> {
    const areResults = into === BlobPlace.RESULTS
    const store = areResults ? results : into === BlobPlace.HISTORY ? history : cas
    if (store === undefined) throw new StatusError('FAILED_PRECONDITION', 'this worker has no action cache to write to')
    const named = blobs.map(({ digest, data }) => ({ digest: digestOf(digest), data }))
    const digests = named.map(({ digest }) => digest)
    // Existing blobs are skipped here, because workers do not ask before a put.
    const absent = new Set((areResults ? digests : await missingOf(store, digests, call)).map(({ key }) => key))
    const entries = named.flatMap(({ digest, data }) =>
      absent.has(digest.key) ? [{ digest, blob: Blob.ofBytes(data) }] : [],
    )
    const outcomes = await store.putAll(entries, call)
    const failures = new Map(entries.map(({ digest }, at) => [digest.key, outcomes[at]]))
    return {
      outcomes: digests.map(({ key }) => failures.get(key)).map((failure) => (failure ? statusOf(failure) : {})),
    }
  }

  async #lease(files: BlobFiles, leaseId: number, digests: readonly Digest[]): Promise<readonly Digest[]> {
    const known = this.#leases.get(leaseId)
    if (known !== undefined) return (await known).extend(digests)
    if (this.#leases.size >= MAX_LEASES) {
      throw new StatusError('RESOURCE_EXHAUSTED', `the worker holds ${MAX_LEASES} leases, expected fewer`)
    }
    const lease = files.lease(digests, this.#call)
    this.#leases.set(leaseId, lease)
    // The connection closed in the meantime, so nothing else would release this lease.
    if (this.#isClosed) this.#release(leaseId)
    return (await lease).missing
  }

  #release(leaseId: number): void {
    const lease = this.#leases.get(leaseId)
    this.#leases.delete(leaseId)
    lease?.then(
      (held) => held.release(),
      () => {},
    )
  }

  async #locate(files: BlobFiles, { digest, isExecutable }: WantedFile, digestOf: ParseDigest): Promise<LocatedAnswer> {
    try {
      const located = await files.locate(digestOf(digest), isExecutable)
      return 'bytes' in located ? { data: located.bytes } : located
    } catch (error) {
      return { failure: statusOf(StatusError.from(error)) }
    }
  }

  async #reserve(files: BlobFiles): Promise<{ readonly path: string; readonly isSynced: boolean }> {
    // Not counted as in flight: a worker writes outputs, as many at a time as it runs actions.
    const { path, isSynced } = await files.reserve(this.#call)
    this.#reserved.add(path)
    return { path, isSynced }
  }

  async #adopt(
    files: BlobFiles,
    { path, sizeBytes, checksum, mtimeMs }: AdoptFile,
    digest: Digest,
    call: Call,
  ): Promise<void> {
    if (!this.#reserved.delete(path)) {
      throw new StatusError('INVALID_ARGUMENT', 'the worker adopts a file at a path that was not reserved for it')
    }
    await files.adopt(digest, { path, sizeBytes, checksum, mtimeMs }, call)
  }
}

/** The stores as seen by the isolated instance `apart`; unchanged if undefined. */
const lentAs = (stores: LentStores, instanceName: string | undefined): LentStores => {
  if (instanceName === undefined) return stores
  const { cas, results, history } = stores
  const isolatedResults = results && isolatedView(results, instanceName)
  return {
    ...stores,
    cas: isolatedView(cas, instanceName),
    results: isolatedResults,
    history: isolatedView(history, instanceName),
  }
}

const filesOf = ({ files }: Store): BlobFiles => {
  if (files !== undefined) return files
  throw new StatusError('FAILED_PRECONDITION', 'the store of the worker has no files')
}

const limitsOf = (maxBlobBytes: number): LentStoreResponse => ({
  maxBlobBytes: Number.isFinite(maxBlobBytes) ? maxBlobBytes : 0,
})

type ParseDigest = (message: DigestMessage | null) => Digest
type PartAnswer = Input<'remexec.worker.v1.BlobPart'>
type LocatedAnswer = Input<'remexec.worker.v1.LocatedFile'>

const parse = (message: DigestMessage | null, value: number): Digest => {
  const digestFunction: DigestFunction = resolveDigestFunction(value, message?.hash, functions)
  return Digest.parse(message, digestFunction)
}

const missing = (digests: readonly Digest[]): LentStoreResponse => ({
  missing: { digests: digests.map((digest) => digest.toMessage()) },
})
