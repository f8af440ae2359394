import { Code, isStatus, StatusError } from '../../base/status-error.js'
import { freshMs, turnMs } from '../../base/turn-clock.js'
import { ForwardingStore } from '../../blobs/forwarding.js'
import type { OperationMeter, StoreMeter, StoreOperation, StoreResult } from '../../blobs/meter.js'
import type {
  BlobChunks,
  BlobEntry,
  FarTrees,
  LastingBlobs,
  Outcomes,
  Removal,
  SideBySide,
  Store,
} from '../../blobs/store.js'
import type { Digest } from '../../reapi/digest.js'
import type { DigestBatch } from '../../reapi/digest-batch.js'
import type { Call } from '../../rpc/call.js'
import { inSpan } from '../../rpc/in-span.js'
import type { Blob } from '../../stream/blob/blob.js'
import { type Range, WHOLE } from '../../stream/path.js'

/**
 * A store at its path in the configuration. The builder wraps every store in one, so that no kind repeats what all
 * need: metrics, spans, and errors of the store prefixed with its path.
 */
export class StoreNode extends ForwardingStore {
  readonly #path: string
  readonly #meter: StoreMeter | undefined
  /** Of all instances, or of calls without one. */
  readonly #meters: Meters | undefined
  /** As many as the label of an instance may have values. */
  readonly #byInstance = new Map<StoreMeter, Meters>()

  constructor(store: Store, { path, meter }: NodeOptions) {
    super(store)
    this.#path = path
    this.#meter = meter
    this.#meters = meter && metersOf(meter)
  }

  get lasting(): LastingBlobs | undefined {
    return this.backend.lasting
  }

  get chunks(): BlobChunks | undefined {
    return this.backend.chunks
  }

  get trees(): FarTrees | undefined {
    return this.backend.trees
  }

  get sideBySide(): SideBySide | undefined {
    const { sideBySide } = this.backend
    return (
      sideBySide && {
        runs: (digests) => sideBySide.runs(digests),
        get: (run, range, call) => this.#getRun(sideBySide, run, range, call),
      }
    )
  }

  override findMissing(digests: DigestBatch, call: Call): Promise<DigestBatch> {
    const blobs = digests.count
    const sinceMs = blobs > FEW ? freshMs() : turnMs()
    const asked = this.#ask('find_missing', blobs, call, (inner) => this.backend.findMissing(digests, inner))
    const meter = this.#metersFor(call)?.findMissing
    return this.#watch({ meter, blobs, sinceMs, call }, asked, (missing) => {
      meter?.hit.add(blobs - missing.count)
      meter?.miss.add(missing.count)
      return missing
    })
  }

  override get(digest: Digest, range: Range, call: Call): Promise<Blob> {
    const sinceMs = turnMs()
    const asked = this.#ask(readOf(call), digest, call, (inner) => this.backend.get(digest, range, inner))
    const meters = this.#metersFor(call)
    const meter = meters?.[readOf(call)]
    return this.#watch({ meter, isRead: true, blobs: 1, sinceMs, call }, asked, (blob) =>
      counted(meters, blob, 1, blob.sizeBytes ?? expectedBytes(digest, range), call),
    )
  }

  #getRun(sideBySide: SideBySide, run: readonly Digest[], range: Range, call: Call): Promise<Blob | undefined> {
    const blobs = run.length
    const sinceMs = turnMs()
    const asked = this.#ask(readOf(call), blobs, call, (inner) => sideBySide.get(run, range, inner))
    const meters = this.#metersFor(call)
    const meter = meters?.[readOf(call)]
    // Not read is not missed: the caller gets each by itself then.
    return this.#watch(
      { meter, blobs, sinceMs, call },
      asked,
      (blob) => blob && counted(meters, blob, blobs, blob.sizeBytes ?? 0, call),
    )
  }

  override put(digest: Digest, blob: Blob, call: Call): Promise<void> {
    const sizeBytes = blob.sizeBytes ?? expectedBytes(digest, WHOLE)
    const sinceMs = turnMs()
    const asked = this.#ask('write', digest, call, (inner) => this.backend.put(digest, blob, inner))
    const meters = this.#metersFor(call)
    const meter = meters?.write
    return this.#watch({ meter, blobs: 1, sinceMs, call }, asked, () => wrote(meters, sizeBytes))
  }

  /** Counts each blob by its outcome in the answer. */
  override putAll(entries: readonly BlobEntry[], call: Call): Promise<Outcomes> {
    const sizes = entries.map(({ digest, blob }) => blob.sizeBytes ?? expectedBytes(digest, WHOLE))
    const sinceMs = turnMs()
    const asked = this.#ask('write', entries.length, call, (inner) => this.backend.putAll(entries, inner))
    const meters = this.#metersFor(call)
    const meter = meters?.write
    return this.#watch({ meter, blobs: entries.length, sinceMs, call }, asked, (outcomes) => {
      for (const [at, sizeBytes] of sizes.entries()) {
        const failure = outcomes[at]
        if (failure === undefined) wrote(meters, sizeBytes)
        else meter?.[resultOf(failure, call)].add(1)
      }
      return outcomes
    })
  }

  override remove(digest: Digest, why: Removal, call: Call): Promise<void> {
    const sinceMs = turnMs()
    const asked = this.#ask('delete', digest, call, (inner) => this.backend.remove(digest, why, inner))
    const meter = this.#metersFor(call)?.delete
    return this.#watch({ meter, blobs: 1, sinceMs, call }, asked, () => meter?.success.add(1))
  }

  /**
   * For a read, the duration and the span end when the blob is available, because the reader decides how fast it reads.
   * Uses `then` because `await` would double the overhead for small calls.
   */
  #watch<Answer>(
    { meter, isRead = false, blobs, sinceMs, call }: Watched,
    asked: Promise<Answer>,
    done: (answer: Answer) => Answer,
  ): Promise<Answer> {
    return asked.then(
      (answer) => {
        meter?.took((blobs > FEW ? freshMs() : turnMs()) - sinceMs)
        return done(answer)
      },
      (error: unknown) => {
        meter?.took(turnMs() - sinceMs)
        const isMiss = isRead && isStatus(error, 'NOT_FOUND')
        meter?.[isMiss ? 'miss' : resultOf(error, call)].add(blobs)
        throw this.#withPath(error, call)
      },
    )
  }

  /** `about` is the digest or the number of blobs. An untraced call allocates nothing. */
  #ask<Answer>(
    operation: StoreOperation,
    about: Digest | number,
    call: Call,
    ask: (call: Call) => Promise<Answer>,
  ): Promise<Answer> {
    if (call.span === undefined) return ask(call)
    const said = typeof about === 'number' ? { 'remexec.blobs': about } : { 'remexec.digest': about.key }
    return inSpan(call, `${operation} ${this.#path}`, ask, { 'remexec.store': this.#path, ...said })
  }

  #metersFor({ instanceName }: Call): Meters | undefined {
    if (this.#meter?.ofInstance === undefined) return this.#meters
    const meter = this.#meter.ofInstance(instanceName)
    const meters = this.#byInstance.get(meter) ?? metersOf(meter)
    this.#byInstance.set(meter, meters)
    return meters
  }

  /** Prefixes an error with the path of the store it occurred in, once. */
  #withPath(thrown: unknown, { log }: Call): StatusError {
    const error = StatusError.from(thrown)
    if (error.code < Code.INTERNAL || withPath.has(error)) return error
    const prefixed = error.withPrefix(`store ${this.#path}`)
    log.debug('a store failed', { store: this.#path, error: prefixed })
    withPath.add(prefixed)
    return prefixed
  }
}

/** Up to this many blobs, the time of the current turn is precise enough; a larger batch reads the clock again. */
const FEW = 32

export interface NodeOptions {
  /** Path in the configuration, `CAS/fast`. */
  readonly path: string
  readonly meter?: StoreMeter
}

interface Watched {
  readonly meter: OperationMeter | undefined
  /** Only a read can miss. */
  readonly isRead?: boolean
  readonly blobs: number
  readonly sinceMs: number
  readonly call: Call
}

/** The meters of a store, looked up once. */
interface Meters extends Pick<StoreMeter, 'bytes'> {
  readonly read: OperationMeter
  readonly lookup: OperationMeter
  readonly findMissing: OperationMeter
  readonly write: OperationMeter
  readonly delete: OperationMeter
}

const metersOf = (meter: StoreMeter): Meters => ({
  read: meter.of('read'),
  lookup: meter.of('lookup'),
  findMissing: meter.of('find_missing'),
  write: meter.of('write'),
  delete: meter.of('delete'),
  bytes: meter.bytes,
})

const readOf = ({ isLookup }: Call): 'read' | 'lookup' => (isLookup === true ? 'lookup' : 'read')

const counted = (meters: Meters | undefined, blob: Blob, blobs: number, sizeBytes: number, call: Call): Blob => {
  if (meters === undefined) return blob
  const meter = meters[readOf(call)]
  meter.hit.add(blobs)
  meters.bytes.out.add(sizeBytes)
  return blob.onFailure((error) => {
    if (resultOf(error, call) === 'error') meter.error.add(1)
  })
}

const wrote = (meters: Meters | undefined, sizeBytes: number): void => {
  meters?.write.success.add(1)
  meters?.bytes.in.add(sizeBytes)
}

/** Errors caused by the caller: it left, sent bytes that do not match the digest, or read past the end. */
const CALLERS = new Set<number>([Code.CANCELLED, Code.INVALID_ARGUMENT, Code.OUT_OF_RANGE])

/** DEADLINE_EXCEEDED is the caller's when its call has ended, else it comes from a backend that did not answer. */
const resultOf = (thrown: unknown, { signal }: Call): StoreResult => {
  const { code } = StatusError.from(thrown)
  const isCallers = code === Code.DEADLINE_EXCEEDED ? signal.aborted : CALLERS.has(code)
  return isCallers ? 'cancelled' : 'error'
}

/** The length of a blob that does not know its own: from the digest if that describes the content, else 0. */
const expectedBytes = ({ describesContent, sizeBytes }: Digest, { offset, limit }: Range): number => {
  if (!describesContent) return 0
  const from = offset < 0 ? Math.max(0, sizeBytes + offset) : Math.min(offset, sizeBytes)
  return Math.min(limit, sizeBytes - from)
}

const withPath = new WeakSet<StatusError>()
