import type { Gate } from '../../base/gate.js'
import type { Log } from '../../base/log.js'
import type { Service } from '../../base/rpc.js'
import type { StatusError } from '../../base/status-error.js'
import { type Span, type Tracer, traceContextOf } from '../../base/trace.js'
import type { Activity } from './activity.js'
import { ServerCall } from './call.js'
import { CallsUnderWay } from './calls-under-way.js'
import { type Handler, handlersByPath } from './handlers.js'
import { type CallMeter, type CallMeters, UNCOUNTED } from './meter.js'
import type { Wire } from './wire.js'

export interface CallsParts {
  readonly log: Log
  /** Counts the calls under way. */
  readonly activity: Activity
  readonly meters?: CallMeters | undefined
  readonly tracer?: Tracer | undefined
  /** Judges calls before their services get them; without it all may pass. */
  readonly gate?: Gate | undefined
}

const unmetered: CallMeters = () => UNCOUNTED

/** What runs for the calls that transports bring, and which of them are under way. */
export class Calls {
  readonly handlers: ReadonlyMap<string, Handler>
  readonly #log: Log
  readonly #activity: Activity
  readonly #tracer: Tracer | undefined
  readonly #gate: Gate | undefined
  readonly #underWay = new CallsUnderWay<ServerCall>()
  readonly #meters = new Map<Handler, CallMeter>()

  constructor(services: readonly Service[], { log, activity, meters = unmetered, tracer, gate }: CallsParts) {
    this.handlers = handlersByPath(services)
    for (const handler of this.handlers.values()) this.#meters.set(handler, meters(handler.method.path))
    this.#log = log
    this.#activity = activity
    this.#tracer = tracer
    this.#gate = gate
  }

  /** Serves one call. `wire` is told when the handler has ended. */
  begin(handler: Handler, wire: Wire): void {
    const call = new ServerCall(handler.method, wire, this.#log, this.#meters.get(handler) ?? UNCOUNTED)
    call.span = this.#tracer && spanOf(this.#tracer, handler, wire)
    wire.receiver = call
    void this.#run(handler, call, wire)
  }

  /** Ends every call under way. */
  stop(error: StatusError): void {
    for (const call of this.#underWay) call.stop(error)
  }

  async #run(handler: Handler, call: ServerCall, wire: Wire): Promise<void> {
    this.#activity.begin()
    this.#underWay.add(call)
    try {
      if (this.#gate !== undefined) await call.pass(this.#gate)
      await handler.run(call)
    } catch (error) {
      call.fail(error)
    } finally {
      this.#underWay.delete(call)
      wire.handled()
      this.#activity.end()
    }
  }
}

/** Named as OpenTelemetry names calls: the path without its first slash. */
const spanOf = (tracer: Tracer, { method }: Handler, { metadata, peer }: Wire): Span | undefined => {
  const [, service = '', name = ''] = method.path.split('/')
  const attributes = { 'rpc.system': 'grpc', 'rpc.service': service, 'rpc.method': name, 'client.address': peer }
  return tracer.begin(method.path.slice(1), { parent: traceContextOf(metadata), isServer: true, attributes })
}
