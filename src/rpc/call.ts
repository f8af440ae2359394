import type { HeldFor } from '../ledger/ledger.js'
import { type Log, silentLog } from '../log/log.js'
import type { Span } from './trace.js'

export { cancellation, shareable } from '../base/cancellation.js'

/** What travels with one RPC (or one piece of background work) through every room. Passed, never ambient. */
export interface Call {
  /** Aborted when the client cancelled, its deadline passed, or the work is no longer wanted. */
  readonly signal: AbortSignal
  readonly instanceName: string
  readonly log: Log
  /** What the client sent beside its request, lower-case names; nothing where nobody outside asked. */
  readonly metadata?: ReadonlyMap<string, string | Buffer> | undefined
  /** What this is a piece of, where that is traced. */
  readonly span?: Span | undefined
  /** Memory that is held for the call is counted there. Absent for work of our own. */
  readonly held?: HeldFor | undefined
  /** Discards an upload that nobody feeds, for a store without room for this one. False when there is none. */
  readonly giveWay?: (() => Promise<boolean>) | undefined
}

/** A call that nobody outside made: start-up, health probes, tests. */
export const internalCall = (parts: Partial<Call> = {}): Call => ({
  signal: parts.signal ?? new AbortController().signal,
  instanceName: parts.instanceName ?? '',
  log: parts.log ?? silentLog,
  span: parts.span,
})

/** The same call but for these. Never spread a call: it would lose what it finds out only when it is asked. */
export const callWith = (call: Call, changes: CallChanges): Call => new ChangedCall(call, changes)

type CallChanges = Partial<Pick<Call, 'signal' | 'instanceName' | 'span'>>

/**
 * A class for the sake of speed. Signal and metadata have to be asked for when they are wanted, because the listener makes
 * them only then; and a getter in an object literal is a new kind of object for V8 each time, which costs more than the call.
 */
class ChangedCall implements Call {
  readonly instanceName: string
  readonly log: Log
  readonly span: Span | undefined
  readonly #call: Call
  readonly #signal: AbortSignal | undefined

  constructor(call: Call, { signal, instanceName = call.instanceName, span = call.span }: CallChanges) {
    this.instanceName = instanceName
    this.log = call.log
    this.span = span
    this.#call = call
    this.#signal = signal
  }

  get signal(): AbortSignal {
    return this.#signal ?? this.#call.signal
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
}
