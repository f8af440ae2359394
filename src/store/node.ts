import type { Call } from '../base/call.js'
import { inSpan } from '../base/in-span.js'
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
 * of them is here and in no kind: that it is counted and seen in traces, and that a failure which is the store's own says which
 * of them failed.
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

  override findMissing(digests: DigestBatch, call: Call): Promise<DigestBatch> {
    const ask = (inner: Call): Promise<DigestBatch> => this.backend.findMissing(digests, inner)
    return this.#watch({ operation: 'find_missing', blobs: digests.count, call }, ask, (missing) => {
      this.#count('find_missing', 'hit', digests.count - missing.count)
      this.#count('find_missing', 'miss', missing.count)
      return missing
    })
  }

  override get(digest: Digest, range: Range, call: Call): Promise<Blob> {
    const ask = (inner: Call): Promise<Blob> => this.backend.get(digest, range, inner)
    return this.#watch({ operation: 'read', digest, call }, ask, (blob) => {
      this.#count('read', 'hit', 1)
      this.#meter.moved('out', blob.sizeBytes ?? expectedBytes(digest, range))
      return blob.onFailure(this.#brokeOff)
    })
  }

  override put(digest: Digest, blob: Blob, call: Call): Promise<void> {
    const sizeBytes = blob.sizeBytes ?? expectedBytes(digest, WHOLE)
    const ask = (inner: Call): Promise<void> => this.backend.put(digest, blob, inner)
    return this.#watch({ operation: 'write', digest, call }, ask, () => this.#wrote(sizeBytes))
  }

  /** What became of each is told in the answer. */
  override putAll(entries: readonly BlobEntry[], call: Call): Promise<Outcomes> {
    const sizes = entries.map(({ digest, blob }) => blob.sizeBytes ?? expectedBytes(digest, WHOLE))
    const ask = (inner: Call): Promise<Outcomes> => this.backend.putAll(entries, inner)
    return this.#watch({ operation: 'write', blobs: entries.length, call }, ask, (outcomes) => {
      for (const [at, sizeBytes] of sizes.entries()) {
        const failure = outcomes[at]
        if (failure === undefined) this.#wrote(sizeBytes)
        else this.#count('write', resultOf(failure), 1)
      }
      return outcomes
    })
  }

  override remove(digest: Digest, call: Call): Promise<void> {
    const ask = (inner: Call): Promise<void> => this.backend.remove(digest, inner)
    return this.#watch({ operation: 'delete', digest, call }, ask, () => this.#count('delete', 'success', 1))
  }

  override disown(digest: Digest, call: Call): Promise<void> {
    const ask = (inner: Call): Promise<void> => this.backend.disown(digest, inner)
    return this.#watch({ operation: 'delete', digest, call }, ask, () => this.#count('delete', 'success', 1))
  }

  /**
   * Of a read, time and span end with the blob in hand: how fast it is read is the reader's. Without `await`, which would cost
   * each small call as much again as it is counted for.
   */
  #watch<Answer>(
    { operation, digest, blobs = 1, call }: Watched,
    ask: (call: Call) => Promise<Answer>,
    done: (answer: Answer) => Answer,
  ): Promise<Answer> {
    const sinceMs = performance.now()
    return this.#inSpan({ operation, digest, blobs, call }, ask).then(
      (answer) => {
        this.#meter.took(operation, performance.now() - sinceMs)
        return done(answer)
      },
      (error: unknown) => {
        this.#meter.took(operation, performance.now() - sinceMs)
        const isMiss = operation === 'read' && isStatus(error, 'NOT_FOUND')
        this.#count(operation, isMiss ? 'miss' : resultOf(error), blobs)
        throw this.#placed(error, call)
      },
    )
  }

  /** Nothing is to be made for a call that is not traced. */
  #inSpan<Answer>(
    { operation, digest, blobs = 1, call }: Watched,
    ask: (call: Call) => Promise<Answer>,
  ): Promise<Answer> {
    if (call.span === undefined) return ask(call)
    const about = digest === undefined ? { 'remexec.blobs': blobs } : { 'remexec.digest': digest.key }
    return inSpan(call, `${operation} ${this.#place}`, ask, { 'remexec.store': this.#place, ...about })
  }

  readonly #brokeOff = (error: unknown): void => {
    if (resultOf(error) === 'error') this.#count('read', 'error', 1)
  }

  #wrote(sizeBytes: number): void {
    this.#count('write', 'success', 1)
    this.#meter.moved('in', sizeBytes)
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

interface Watched {
  readonly operation: StoreOperation
  readonly call: Call
  /** Of the one blob it is about, or how many there are. */
  readonly digest?: Digest | undefined
  readonly blobs?: number
}

/** What a caller brings about itself: it left, sent what is no such blob, or asked for what is beyond its end. */
const CALLERS = new Set<number>([Code.CANCELLED, Code.INVALID_ARGUMENT, Code.OUT_OF_RANGE, Code.DEADLINE_EXCEEDED])

const resultOf = (thrown: unknown): StoreResult => (CALLERS.has(StatusError.from(thrown).code) ? 'cancelled' : 'error')

/** The length of a blob that does not know it itself: by its digest, where that says anything about it. */
const expectedBytes = ({ describesContent, sizeBytes }: Digest, { offset, limit }: Range): number => {
  if (!describesContent) return 0
  const from = offset < 0 ? Math.max(0, sizeBytes + offset) : Math.min(offset, sizeBytes)
  return Math.min(limit, sizeBytes - from)
}

const placed = new WeakSet<StatusError>()
