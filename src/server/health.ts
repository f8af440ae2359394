import type { Server } from '@grpc/grpc-js'
import { HealthImplementation } from 'grpc-health-check'

export const HEALTH = 'grpc.health.v1.Health'

/** grpc.health.v1 for the server as a whole (the empty name) and for each service it serves. */
export class GrpcHealth {
  readonly #names: readonly string[]
  readonly #implementation: HealthImplementation

  constructor(serviceNames: readonly string[]) {
    this.#names = ['', ...serviceNames]
    this.#implementation = new HealthImplementation()
    this.setServing(true)
  }

  setServing(serving: boolean): void {
    for (const name of this.#names) this.#implementation.setStatus(name, serving ? 'SERVING' : 'NOT_SERVING')
  }

  addTo(server: Server): void {
    this.#implementation.addToServer(server)
  }
}
