import { type CodeName, codeName, StatusError } from '../../base/status-error.js'
import { ForwardingStore } from '../../blobs/forwarding.js'
import type { BlobEntry, BlobFiles, BlobLease, Outcomes, Removal, Store } from '../../blobs/store.js'
import type { Digest } from '../../reapi/digest.js'
import type { DigestBatch } from '../../reapi/digest-batch.js'
import type { Call } from '../../rpc/call.js'
import type { Blob } from '../../stream/blob/blob.js'
import type { Range } from '../../stream/path.js'

/** Whose failure ends an attempt: no worker can do better with this action, or another one may. */
export type Fault = 'action' | 'worker'

/**
 * Whose failure an error of an attempt is that no store of the worker reported. Only these two say that the action is
 * wrong: it is malformed, or its blobs are missing or it left no valid outputs.
 */
const FAULTS: Readonly<Record<CodeName, Fault>> = {
  INVALID_ARGUMENT: 'action',
  FAILED_PRECONDITION: 'action',
  OK: 'worker',
  CANCELLED: 'worker',
  UNKNOWN: 'worker',
  DEADLINE_EXCEEDED: 'worker',
  NOT_FOUND: 'worker',
  ALREADY_EXISTS: 'worker',
  PERMISSION_DENIED: 'worker',
  RESOURCE_EXHAUSTED: 'worker',
  ABORTED: 'worker',
  OUT_OF_RANGE: 'worker',
  UNIMPLEMENTED: 'worker',
  INTERNAL: 'worker',
  UNAVAILABLE: 'worker',
  DATA_LOSS: 'worker',
  UNAUTHENTICATED: 'worker',
}

const MAX_CAUSES = 20

/** Errors that a store of this worker reported, whatever their code. */
const ofStores = new WeakSet<object>()

export const faultOf = (error: StatusError): Fault => {
  let cause: unknown = error
  for (let depth = 0; depth < MAX_CAUSES && cause instanceof Error; depth++) {
    if (ofStores.has(cause)) return 'worker'
    cause = cause.cause
  }
  return FAULTS[codeName(error.code) as CodeName] ?? 'worker'
}

const note = (error: unknown): void => {
  if (typeof error === 'object' && error !== null) ofStores.add(error)
}

const noted = <T>(work: Promise<T>): Promise<T> =>
  work.catch((error: unknown) => {
    note(error)
    throw error
  })

/**
 * A store as the attempts of a worker see it: its errors are faults of the worker. That a blob is absent is an answer, and
 * the attempt says what it means.
 */
export const storeOfWorker = (store: Store): Store => new StoreOfWorker(store)

class StoreOfWorker extends ForwardingStore {
  readonly #files: BlobFiles | undefined

  constructor(backend: Store) {
    super(backend)
    this.#files = backend.files && new FilesOfWorker(backend.files)
  }

  override get files(): BlobFiles | undefined {
    return this.#files
  }

  override findMissing(digests: DigestBatch, call: Call): Promise<DigestBatch> {
    return noted(super.findMissing(digests, call))
  }

  override get(digest: Digest, range: Range, call: Call): Promise<Blob> {
    return noted(super.get(digest, range, call))
  }

  override sizeOf(named: Digest, call: Call): Promise<number | undefined> {
    return noted(super.sizeOf(named, call))
  }

  override evictedMs(digest: Digest, call: Call): Promise<number | undefined> {
    return noted(super.evictedMs(digest, call))
  }

  override put(digest: Digest, blob: Blob, call: Call): Promise<void> {
    return noted(super.put(digest, blob, call))
  }

  override async putAll(entries: readonly BlobEntry[], call: Call): Promise<Outcomes> {
    const outcomes = await noted(super.putAll(entries, call))
    for (const failure of outcomes) note(failure)
    return outcomes
  }

  override remove(digest: Digest, why: Removal, call: Call): Promise<void> {
    return noted(super.remove(digest, why, call))
  }

  protected override outgoing(blob: Blob): Blob {
    return blob.onFailure(note)
  }
}

class FilesOfWorker implements BlobFiles {
  readonly #files: BlobFiles

  constructor(files: BlobFiles) {
    this.#files = files
  }

  async lease(...args: Parameters<BlobFiles['lease']>): Promise<BlobLease> {
    const lease = await noted(this.#files.lease(...args))
    return { missing: lease.missing, extend: (more) => noted(lease.extend(more)), release: () => lease.release() }
  }

  locate(...args: Parameters<BlobFiles['locate']>): ReturnType<BlobFiles['locate']> {
    return noted(this.#files.locate(...args))
  }

  populate(...args: Parameters<BlobFiles['populate']>): ReturnType<BlobFiles['populate']> {
    return noted(this.#files.populate(...args))
  }

  async populateTree(...args: Parameters<NonNullable<BlobFiles['populateTree']>>): Promise<void> {
    await noted(this.#files.populateTree?.(...args) ?? Promise.resolve())
  }

  drop(...args: Parameters<BlobFiles['drop']>): ReturnType<BlobFiles['drop']> {
    return noted(this.#files.drop(...args))
  }

  maxBlobBytes(...args: Parameters<BlobFiles['maxBlobBytes']>): ReturnType<BlobFiles['maxBlobBytes']> {
    return noted(this.#files.maxBlobBytes(...args))
  }

  reserve(...args: Parameters<BlobFiles['reserve']>): ReturnType<BlobFiles['reserve']> {
    return noted(this.#files.reserve(...args))
  }

  adopt(...args: Parameters<BlobFiles['adopt']>): ReturnType<BlobFiles['adopt']> {
    return noted(this.#files.adopt(...args))
  }
}

/** UNAVAILABLE to the scheduler: this worker cannot run anything now. */
export const sickness = (reason: string): StatusError => new StatusError('UNAVAILABLE', `the worker is sick: ${reason}`)
