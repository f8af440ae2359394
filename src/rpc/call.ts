import { cancellation } from '../base/cancellation.js'
import type { StatusError } from '../base/status-error.js'
import type { Holder } from '../ledger/holder.js'
import type { HeldFor } from '../ledger/ledger.js'
import { type Log, silentLog } from '../log/log.js'
import type { Invocation } from './invocations.js'
import type { Span } from './trace.js'

export { cancellation, NEVER, shareable, whenAborted } from '../base/cancellation.js'

/** The context of one RPC, or of one piece of background work. Passed explicitly everywhere. */
export interface Call {
  /** Aborted when the client cancelled, its deadline passed, or the work is no longer needed. */
  readonly signal: AbortSignal
  /** The reason of `signal` without making one, which costs 2 us: see `cancelledBy`. */
  readonly whyCancelled?: (() => StatusError | undefined) | undefined
  readonly instanceName: string
  /** Told the instance that a request of a client is for, once it is known. Absent for internal work. */
  readonly isFor?: ((instanceName: string) => void) | undefined
  readonly log: Log
  /** The metadata of the client, with lower-case names; absent for internal work. */
  readonly metadata?: ReadonlyMap<string, string | Buffer> | undefined
  /** The span that this call belongs to, if it is traced. */
  readonly span?: Span | undefined
  /** Counts the memory held for the call, or for the attempt of a worker. Absent for other internal work. */
  readonly held?: HeldFor | undefined
  /** Discards an idle upload, of this address if one is given, to make room for this one. False when there is none. */
  readonly giveWay?: ((address?: Holder) => Promise<boolean>) | undefined
  /** Takes what has arrived of an upload that another thread may continue, instead of its store deleting it. */
  readonly partTaker?: PartTaker | undefined
  /** The build that the call belongs to: what it uses is kept while the build lives. */
  readonly invocation?: Invocation | undefined
  /** Blobs that the call writes, reads or finds are kept for at least this long, if their store promises less. */
  readonly keepForMs?: number | undefined
  /** Blobs that are put with the same object here belong together: a store may keep them side by side. */
  readonly together?: object | undefined
  /** The server itself looks up a result: before it queues an action, or for a page. Stores count this apart from reads. */
  readonly isLookup?: boolean | undefined
}

/** What has arrived of an interrupted upload: bytes, or a file that belongs to whoever takes it. */
export type UploadPart = Uint8Array | { readonly path: string; readonly sizeBytes: number }

export interface PartTaker {
  /** False if the upload is over for good, and the store deletes what it has. */
  readonly isWaiting: boolean
  take(part: UploadPart): void
}

/** A call without a client: start-up, health probes, tests. */
export const internalCall = (parts: Partial<Call> = {}): Call => ({
  signal: parts.signal ?? new AbortController().signal,
  instanceName: parts.instanceName ?? '',
  log: parts.log ?? silentLog,
  span: parts.span,
  held: parts.held,
  invocation: parts.invocation,
  keepForMs: parts.keepForMs,
  isLookup: parts.isLookup,
})

/** Why a call was cancelled; undefined while it goes on. For work that only looks between its steps. */
export const cancelledBy = (call: Pick<Call, 'signal' | 'whyCancelled'>): StatusError | undefined => {
  if (call.whyCancelled !== undefined) return call.whyCancelled()
  return call.signal.aborted ? cancellation(call.signal) : undefined
}

/** The same call with some fields changed. Never spread a call: that would lose its lazy fields. */
export const callWith = (call: Call, changes: CallChanges): Call => new ChangedCall(call, changes)

type CallChanges = Partial<Pick<Call, 'signal' | 'instanceName' | 'span' | 'keepForMs' | 'together' | 'isLookup'>>

/** Signal, metadata and invocation stay lazy, because the listener creates them only on demand. */
class ChangedCall implements Call {
  readonly instanceName: string
  readonly log: Log
  readonly span: Span | undefined
  readonly keepForMs: number | undefined
  readonly together: object | undefined
  readonly isLookup: boolean | undefined
  readonly #call: Call
  readonly #signal: AbortSignal | undefined

  constructor(call: Call, changes: CallChanges) {
    const { signal, instanceName = call.instanceName, span = call.span, keepForMs = call.keepForMs } = changes
    this.instanceName = instanceName
    this.keepForMs = keepForMs
    this.together = changes.together ?? call.together
    this.isLookup = changes.isLookup ?? call.isLookup
    this.log = call.log
    this.span = span
    this.#call = call
    this.#signal = signal
  }

  get signal(): AbortSignal {
    return this.#signal ?? this.#call.signal
  }

  whyCancelled(): StatusError | undefined {
    return cancelledBy(this.#signal === undefined ? this.#call : { signal: this.#signal })
  }

  get metadata(): Call['metadata'] {
    return this.#call.metadata
  }

  get held(): Call['held'] {
    return this.#call.held
  }

  get giveWay(): Call['giveWay'] {
    return this.#call.giveWay
  }

  get partTaker(): Call['partTaker'] {
    return this.#call.partTaker
  }

  get invocation(): Call['invocation'] {
    return this.#call.invocation
  }
}
