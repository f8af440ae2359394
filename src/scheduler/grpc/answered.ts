import type { Clock } from '../../base/clock.js'
import { codec } from '../../proto/codec.js'
import type { ActionResult } from '../../proto/generated/build.bazel.remote.execution.v2.js'
import type { ExecutionRequest, OperationState, Outcome } from '../scheduler.js'

/** Retained for 60 to 120 s, so that a client can reconnect; at most MAX_KEPT. */
const KEPT_MS = 60_000
const MAX_KEPT = 1_000

/** Operations that ended without a scheduler elsewhere: answered from an action cache, or rejected. */
export class Answered {
  readonly #byName = new Map<string, OperationState>()
  readonly #stopForgetting: () => void

  constructor(clock: Clock) {
    let before: string[] = []
    this.#stopForgetting = clock.every(KEPT_MS, () => {
      for (const old of before) this.#byName.delete(old)
      before = [...this.#byName.keys()]
    })
  }

  get(name: string): OperationState | undefined {
    return this.#byName.get(name)
  }

  /** Returns the name. */
  add(name: string, { instanceName, actionDigest }: ExecutionRequest, outcome: Outcome): string {
    this.#byName.set(name, { name, instanceName, actionDigest, stage: 'COMPLETED', outcome })
    for (const oldest of this.#byName.keys()) {
      if (this.#byName.size <= MAX_KEPT) break
      this.#byName.delete(oldest)
    }
    return name
  }

  addHit(name: string, request: ExecutionRequest, result: ActionResult): string {
    return this.add(name, request, { response: { ...NO_RESPONSE, cachedResult: true, result } })
  }

  delete(name: string): boolean {
    return this.#byName.delete(name)
  }

  close(): void {
    this.#stopForgetting()
  }
}

const NO_RESPONSE = codec('build.bazel.remote.execution.v2.ExecuteResponse').decode(Buffer.alloc(0))
