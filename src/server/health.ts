import type { Writable } from 'node:stream'
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
 * grpc.health.v1 for the server as a whole (the empty name) and for each service it serves, which all share one status.
 * On our own codec: the library for it loads a second reader of .proto files at every start.
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

  /** Ends every Watch, which would never end by itself, and each that is still to come. */
  endWatches(): void {
    this.#isEnded = true
    for (const { end } of this.#watches) end()
  }

  get #response(): HealthCheckResponseInput {
    return { status: this.#isServing ? Status.SERVING : Status.NOT_SERVING }
  }

  #check({ service }: HealthCheckRequest): HealthCheckResponseInput {
    if (this.#names.has(service)) return this.#response
    throw new StatusError('NOT_FOUND', `${JSON.stringify(service)} is no service of this server`)
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
        signal.addEventListener('abort', end, { once: true })
      })
    }
    throw new StatusError('UNAVAILABLE', 'the server is shutting down')
  }
}

interface Watch {
  /** The service is one of this server: the rest hear nothing more. */
  readonly isKnown: boolean
  readonly responses: Writable
  end(): void
}
