import type { Writable } from 'node:stream'
import { whenAborted } from '../base/cancellation.js'
import { StatusError } from '../base/status-error.js'
import {
  type HealthCheckRequest,
  type HealthCheckResponseInput,
  type HealthListResponseInput,
  HealthCheckResponseServingStatus as Status,
} from '../proto/generated/grpc.health.v1.js'
import type { RpcCall, Service } from '../rpc/rpc.js'

export const HEALTH = 'grpc.health.v1.Health'

/**
 * grpc.health.v1 for the whole server (the empty name) and for each of its services. All share one status. Uses our own
 * codec, because the library for it loads a second .proto parser at every start.
 */
export class GrpcHealth {
  readonly service: Service = {
    name: HEALTH,
    unary: {
      Check: async (request: HealthCheckRequest) => this.#check(request),
      List: async () => this.#list(),
    },
    serverStreaming: { Watch: (request, call, responses) => this.#watch(request, call, responses) },
  }
  readonly #names: ReadonlySet<string>
  readonly #watches = new Set<Watch>()
  #isServing: boolean
  #isEnded = false

  constructor(serviceNames: readonly string[], isServing: boolean) {
    this.#names = new Set(['', ...serviceNames])
    this.#isServing = isServing
  }

  setServing(isServing: boolean): void {
    if (this.#isServing === isServing) return
    this.#isServing = isServing
    for (const { isKnown, responses } of this.#watches) if (isKnown) responses.write(this.#response)
  }

  /** Ends all Watch calls, present and future, because a Watch never ends by itself. */
  endWatches(): void {
    this.#isEnded = true
    for (const { end } of this.#watches) end()
  }

  get #response(): HealthCheckResponseInput {
    return { status: this.#isServing ? Status.SERVING : Status.NOT_SERVING }
  }

  #check({ service }: HealthCheckRequest): HealthCheckResponseInput {
    if (this.#names.has(service)) return this.#response
    throw new StatusError('NOT_FOUND', `${JSON.stringify(service)} is not a service of this server`)
  }

  #list(): HealthListResponseInput {
    return { statuses: Object.fromEntries([...this.#names].map((name) => [name, this.#response])) }
  }

  async #watch({ service }: HealthCheckRequest, { signal }: RpcCall, responses: Writable): Promise<void> {
    const isKnown = this.#names.has(service)
    responses.write(isKnown ? this.#response : { status: Status.SERVICE_UNKNOWN })
    if (!this.#isEnded && !signal.aborted) {
      await new Promise<void>((resolve) => {
        const end = (): void => {
          this.#watches.delete(watch)
          resolve()
        }
        const watch: Watch = { isKnown, responses, end }
        this.#watches.add(watch)
        whenAborted(signal, end)
      })
    }
    throw new StatusError('UNAVAILABLE', 'the server is shutting down')
  }
}

interface Watch {
  /** Whether the service exists; a Watch of an unknown service gets no updates. */
  readonly isKnown: boolean
  readonly responses: Writable
  end(): void
}
