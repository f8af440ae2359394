import { StatusError } from '../../base/status-error.js'
import type { Log } from '../../log/log.js'
import { retryInfo } from '../../proto/error-details.js'
import type { Gate } from '../../rpc/gate.js'
import type { Invocations } from '../../rpc/invocations.js'
import type { RequestRecords } from '../../rpc/request-records.js'
import type { Service } from '../../rpc/rpc.js'
import { type Span, type Tracer, traceContextOf } from '../../rpc/trace.js'
import { inBackground } from '../../work/in-background.js'
import type { InFlight } from '../../work/in-flight.js'
import { ServerCall } from './call.js'
import { CallsInFlight, type Positioned } from './calls-in-flight.js'
import { type Handler, handlersByPath, refusingHandlers } from './handlers.js'
import { type CallMeter, type CallMeters, UNCOUNTED } from './meter.js'
import type { Wire } from './wire.js'

export interface CallsParts {
  readonly log: Log
  /** Counts the calls in progress. */
  readonly inFlight: InFlight
  readonly meters?: CallMeters | undefined
  readonly tracer?: Tracer | undefined
  /** The share of calls, 0 to 1, whose log line is at level info instead of debug. Default 0. */
  readonly shownShare?: number | undefined
  /** Authorizes calls before their handlers run; without it every call is allowed. */
  readonly gate?: Gate | undefined
  /** Learns which builds are alive from the metadata of calls. */
  readonly invocations?: Invocations | undefined
  /** Receives what became of requests about actions. */
  readonly records?: Pick<RequestRecords, 'add'> | undefined
}

interface WaitingCall extends Positioned {
  readonly path: string
  readonly wire: Wire
}

const unmetered: CallMeters = () => UNCOUNTED

/** The retry delay suggested to clients of a server that is starting. */
const STARTING_RETRY_MS = 500

const starting = (): StatusError =>
  new StatusError('UNAVAILABLE', 'the server is starting', { details: [retryInfo(STARTING_RETRY_MS)] })

/** The handlers of all transports, and the calls in progress. */
export class Calls {
  readonly #handlers: Map<string, Handler>
  readonly #log: Log
  readonly #inFlight: InFlight
  readonly #tracer: Tracer | undefined
  readonly #shownShare: number
  readonly #meterOf: CallMeters
  readonly #invocations: Invocations | undefined
  readonly #records: Pick<RequestRecords, 'add'> | undefined
  #gate: Gate | undefined
  readonly #inFlightCalls = new CallsInFlight<ServerCall>()
  readonly #waiting = new CallsInFlight<WaitingCall>()
  readonly #meters = new Map<Handler, CallMeter>()

  /** Calls of the services named `awaited` are UNAVAILABLE until `serve` provides them. */
  constructor(
    services: readonly Service[],
    { log, inFlight, meters = unmetered, tracer, shownShare = 0, gate, invocations, records }: CallsParts,
    awaited: readonly string[] = [],
  ) {
    this.#handlers = new Map([...refusingHandlers(awaited, starting), ...handlersByPath(services)])
    this.#meterOf = meters
    for (const handler of this.#handlers.values()) this.#meters.set(handler, meters(handler.method.path))
    this.#log = log
    this.#inFlight = inFlight
    this.#tracer = tracer
    this.#shownShare = shownShare
    this.#gate = gate
    this.#invocations = invocations
    this.#records = records
  }

  get handlers(): ReadonlyMap<string, Handler> {
    return this.#handlers
  }

  /** Provides the awaited services. Throws if others are passed. */
  serve(services: readonly Service[], gate: Gate | undefined): void {
    const brought = handlersByPath(services)
    for (const path of brought.keys()) {
      if (!this.#handlers.has(path)) throw new Error(`${path} was not announced`)
    }
    this.#gate = gate
    this.add(services)
  }

  /** Calls that were admitted keep what they may do. */
  set gate(gate: Gate | undefined) {
    this.#gate = gate
  }

  /** Serves more services. */
  add(services: readonly Service[]): void {
    for (const [path, handler] of handlersByPath(services)) {
      this.#handlers.set(path, handler)
      this.#meters.set(handler, this.#meterOf(path))
    }
  }

  /** Serves one call. Calls `wire.handled` when the handler has ended. */
  begin(handler: Handler, wire: Wire): void {
    const call = new ServerCall(handler.method, wire, this.#log, this.#meters.get(handler) ?? UNCOUNTED)
    if (this.#shownShare > 0 && Math.random() < this.#shownShare) call.shownShare = this.#shownShare
    call.invocations = this.#invocations
    call.records = this.#records
    call.span = this.#tracer && spanOf(this.#tracer, handler, wire)
    wire.receiver = call
    inBackground(this.#run(handler, call, wire), this.#log, 'the end of a call')
  }

  /**
   * Serves one call once `whenReady` calls back, later. Until then the call counts as in progress, and `stop` refuses
   * it.
   */
  beginWhen(handler: Handler, wire: Wire, whenReady: (begin: () => void, givenUp: () => void) => void): void {
    const waiting: WaitingCall = { position: 0, path: handler.method.path, wire }
    this.#waiting.add(waiting)
    this.#inFlight.begin()
    const leave = (): void => {
      this.#waiting.delete(waiting)
      this.#inFlight.end()
    }
    const begin = (): void => {
      this.begin(handler, wire)
      leave()
    }
    whenReady(begin, leave)
  }

  /** Ends every call in progress, and those that wait to begin. */
  stop(error: StatusError): void {
    for (const { wire, path } of this.#waiting) {
      wire.end(error)
      this.#log.debug('call refused', () => ({ method: path, peer: wire.peer, reason: error.message }))
    }
    for (const call of this.#inFlightCalls) call.stop(error)
  }

  async #run(handler: Handler, call: ServerCall, wire: Wire): Promise<void> {
    this.#inFlight.begin()
    this.#inFlightCalls.add(call)
    try {
      if (this.#gate !== undefined) await call.pass(this.#gate)
      await handler.run(call)
    } catch (error) {
      call.fail(error)
    } finally {
      this.#inFlightCalls.delete(call)
      wire.handled()
      this.#inFlight.end()
    }
  }
}

/** Named by the convention of OpenTelemetry: the path without its first slash. */
const spanOf = (tracer: Tracer, { method }: Handler, { metadata, peer }: Wire): Span | undefined => {
  const [, service = '', name = ''] = method.path.split('/')
  const attributes = { 'rpc.system': 'grpc', 'rpc.service': service, 'rpc.method': name, 'client.address': peer }
  return tracer.begin(method.path.slice(1), { parent: traceContextOf(metadata), isServer: true, attributes })
}
