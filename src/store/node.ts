import type { Call } from '../base/call.js'
import { Code, isStatus, StatusError } from '../base/status-error.js'
import type { Digest } from '../reapi/digest.js'
import type { DigestBatch } from '../reapi/digest-batch.js'
import type { Blob } from '../stream/blob/blob.js'
import { type Range, WHOLE } from '../stream/path.js'
import { ForwardingStore } from './forwarding.js'
import { type StoreMeter, type StoreOperation, type StoreResult, unmetered } from './meter.js'
import type { BlobEntry, Outcomes, Store } from './store.js'

/**
 * A store at its place in the configuration. The builder wraps every store of every kind in one, so that what goes for all
 * of them is here and in no kind: that it is counted, and that a failure which is the store's own says which of them failed.
 */
export class StoreNode extends ForwardingStore {
  readonly structName: string
  readonly #place: string

  readonly #meter: StoreMeter

  constructor(store: Store, { place, meter = unmetered }: NodeOptions) {
    super(store)
    this.structName = store.constructor.name
    this.#place = place
    this.#meter = meter
  }

  /** Without `await`, which would cost each small call as much again as it is counted for; so does `get`. */
  override findMissing(digests: DigestBatch, call: Call): Promise<DigestBatch> {
    const sinceMs = performance.now()
    return this.backend.findMissing(digests, call).then(
      (missing) => {
        this.#meter.took('find_missing', performance.now() - sinceMs)
        this.#count('find_missing', 'hit', digests.count - missing.count)
        this.#count('find_missing', 'miss', missing.count)
        return missing
      },
      (error: unknown) => {
        this.#meter.took('find_missing', performance.now() - sinceMs)
        this.#count('find_missing', unlessCallers(error, 'error'), digests.count)
        throw this.#placed(error, call)
      },
    )
  }

  override get(digest: Digest, range: Range, call: Call): Promise<Blob> {
    const sinceMs = performance.now()
    return this.backend.get(digest, range, call).then(
      (blob) => {
        this.#meter.took('read', performance.now() - sinceMs)
        this.#meter.count('read', 'hit', 1)
        this.#meter.moved('out', blob.sizeBytes ?? expectedBytes(digest, range))
        return blob.onFailure(this.#brokeOff)
      },
      (error: unknown) => {
        this.#meter.took('read', performance.now() - sinceMs)
        this.#meter.count('read', isStatus(error, 'NOT_FOUND') ? 'miss' : unlessCallers(error, 'error'), 1)
        throw this.#placed(error, call)
      },
    )
  }

  override async put(digest: Digest, blob: Blob, call: Call): Promise<void> {
    const sinceMs = performance.now()
    const sizeBytes = blob.sizeBytes ?? expectedBytes(digest, WHOLE)
    try {
      await this.backend.put(digest, blob, call)
      this.#wrote(undefined, sizeBytes)
    } catch (error) {
      this.#wrote(error, sizeBytes)
      throw this.#placed(error, call)
    } finally {
      this.#meter.took('write', performance.now() - sinceMs)
    }
  }

  /** What became of each is told in the answer. */
  override async putAll(entries: readonly BlobEntry[], call: Call): Promise<Outcomes> {
    const sinceMs = performance.now()
    const sizes = entries.map(({ digest, blob }) => blob.sizeBytes ?? expectedBytes(digest, WHOLE))
    try {
      const outcomes = await this.backend.putAll(entries, call)
      for (const [at, sizeBytes] of sizes.entries()) this.#wrote(outcomes[at], sizeBytes)
      return outcomes
    } catch (error) {
      this.#count('write', unlessCallers(error, 'error'), entries.length)
      throw this.#placed(error, call)
    } finally {
      this.#meter.took('write', performance.now() - sinceMs)
    }
  }

  override async remove(digest: Digest, call: Call): Promise<void> {
    const sinceMs = performance.now()
    try {
      await this.backend.remove(digest, call)
      this.#meter.count('delete', 'success', 1)
    } catch (error) {
      this.#meter.count('delete', unlessCallers(error, 'error'), 1)
      throw this.#placed(error, call)
    } finally {
      this.#meter.took('delete', performance.now() - sinceMs)
    }
  }

  readonly #brokeOff = (error: unknown): void => {
    if (unlessCallers(error, 'error') === 'error') this.#meter.count('read', 'error', 1)
  }

  #wrote(error: unknown, sizeBytes: number): void {
    this.#meter.count('write', error === undefined ? 'success' : unlessCallers(error, 'error'), 1)
    if (error === undefined) this.#meter.moved('in', sizeBytes)
  }

  #count(operation: StoreOperation, result: StoreResult, blobs: number): void {
    if (blobs > 0) this.#meter.count(operation, result, blobs)
  }

  /** Told by the store it happened in, once. */
  #placed(thrown: unknown, { log }: Call): StatusError {
    const error = StatusError.from(thrown)
    if (error.code < Code.INTERNAL || placed.has(error)) return error
    const told = error.withPrefix(`store ${this.#place}`)
    log.debug('a store failed', { store: this.#place, error: told })
    placed.add(told)
    return told
  }
}

export interface NodeOptions {
  /** Where in the configuration it stands, `CAS/fast`. */
  readonly place: string
  readonly meter?: StoreMeter
}

/** What a caller brings about itself: it left, sent what is no such blob, or asked for what is beyond its end. */
const CALLERS = new Set<number>([Code.CANCELLED, Code.INVALID_ARGUMENT, Code.OUT_OF_RANGE, Code.DEADLINE_EXCEEDED])

const unlessCallers = (thrown: unknown, otherwise: StoreResult): StoreResult =>
  CALLERS.has(StatusError.from(thrown).code) ? 'cancelled' : otherwise

/** The length of a blob that does not know it itself: by its digest, where that says anything about it. */
const expectedBytes = ({ describesContent, sizeBytes }: Digest, { offset, limit }: Range): number => {
  if (!describesContent) return 0
  const from = offset < 0 ? Math.max(0, sizeBytes + offset) : Math.min(offset, sizeBytes)
  return Math.min(limit, sizeBytes - from)
}

const placed = new WeakSet<StatusError>()
