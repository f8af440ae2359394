import type { Log } from '../../base/log.js'
import type { Service } from '../../base/rpc.js'
import type { StatusError } from '../../base/status-error.js'
import type { Activity } from './activity.js'
import { ServerCall } from './call.js'
import { CallsUnderWay } from './calls-under-way.js'
import { type Handler, handlersByPath } from './handlers.js'
import type { Wire } from './wire.js'

/** What runs for the calls that transports bring, and which of them are under way. */
export class Calls {
  readonly handlers: ReadonlyMap<string, Handler>
  readonly #log: Log
  readonly #activity: Activity
  readonly #underWay = new CallsUnderWay<ServerCall>()

  /** `activity` counts the calls under way. */
  constructor(services: readonly Service[], { log, activity }: { readonly log: Log; readonly activity: Activity }) {
    this.handlers = handlersByPath(services)
    this.#log = log
    this.#activity = activity
  }

  /** Serves one call. `wire` is told when the handler has ended. */
  begin(handler: Handler, wire: Wire): void {
    const call = new ServerCall(handler.method, wire, this.#log)
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
