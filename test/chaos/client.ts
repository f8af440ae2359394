/** A client that does not give up, as Bazel is one: it waits for its operation, and asks anew when that is not known. */

import { setTimeout as sleep } from 'node:timers/promises'
import { Code } from '../../src/base/status-error.js'
import type { Output } from '../../src/proto/codec.js'
import { TestClient } from '../server/client.js'
import { type BuiltAction, EXECUTION, responseOf } from '../service/execution-harness.js'
import { CAS, wire } from '../service/harness.js'
import { until } from '../until.js'

type Operation = Output<'google.longrunning.Operation'>
type Response = Output<'build.bazel.remote.execution.v2.ExecuteResponse'>

export interface Counts {
  executes: number
  waits: number
  /** Streams that were lost. */
  lost: number
  /** Operations that were not known any more. */
  forgotten: number
  /** Operations found again by WaitExecution. */
  found: number
}

/** What a client tries again. */
const PASSING: ReadonlySet<number> = new Set([
  Code.UNAVAILABLE,
  Code.ABORTED,
  Code.INTERNAL,
  Code.UNKNOWN,
  Code.RESOURCE_EXHAUSTED,
  Code.DEADLINE_EXCEEDED,
  Code.CANCELLED,
])

export class PatientClient {
  readonly counts: Counts = { executes: 0, waits: 0, lost: 0, forgotten: 0, found: 0 }
  /** How operations ended that ended with an error of the server's, and were asked for again. */
  readonly failures: string[] = []
  readonly #clients: TestClient[]

  constructor(address: string) {
    const options = { 'grpc.use_local_subchannel_pool': 1, 'grpc.max_reconnect_backoff_ms': 500 }
    this.#clients = Array.from({ length: 4 }, () => new TestClient(address, options))
  }

  close(): void {
    for (const client of this.#clients) client.close()
  }

  async upload(built: BuiltAction): Promise<void> {
    const blobs = [built.action, built.command, built.root]
    const requests = blobs.map(({ digest, bytes }) => ({ digest: wire(digest), data: bytes }))
    await until(async () => {
      try {
        await this.#any().unary(`${CAS}/BatchUpdateBlobs`, { requests }, { options: deadline(10_000) }).response
        return true
      } catch (error) {
        if (!PASSING.has((error as { code: number }).code)) throw error
        return false
      }
    }, 'an upload')
  }

  /** The answer of the one operation that ended well. */
  async run(built: BuiltAction): Promise<Response> {
    let name: string | undefined
    for (let tries = 0; tries < 500; tries++) {
      const { last, error } = await this.#listen(built, name)
      if (last?.done === true) {
        const response = last.error === null ? responseOf(last) : undefined
        const code = last.error?.code ?? response?.status?.code ?? 0
        if (code === 0 && response !== undefined) return response
        if (!PASSING.has(code)) throw new Error(`ended with ${code}: ${response?.status?.message}`)
        this.failures.push(`${code}: ${response?.status?.message}`)
        name = undefined
      } else {
        name = last?.name ?? name
        if (error?.code === Code.NOT_FOUND) {
          this.counts.forgotten++
          name = undefined
        } else if (error !== undefined && !PASSING.has(error.code)) throw error
        else this.counts.lost++
      }
      await sleep(Math.min(1_000, 50 * 2 ** Math.min(tries, 6)))
    }
    throw new Error('gave up')
  }

  async #listen(built: BuiltAction, name: string | undefined) {
    this.counts[name === undefined ? 'executes' : 'waits']++
    const client = this.#any()
    const stream =
      name === undefined
        ? client.serverStream(`${EXECUTION}/Execute`, { actionDigest: wire(built.digest) })
        : client.serverStream(`${EXECUTION}/WaitExecution`, { name })
    let last: Operation | undefined
    try {
      for await (const operation of stream as AsyncIterable<Operation>) {
        if (last?.done === true) throw new Error('something came behind the end of an operation')
        if (last === undefined && name !== undefined) this.counts.found++
        last = operation
      }
      return { last }
    } catch (error) {
      return { last, error: error as Error & { readonly code: number } }
    }
  }

  #next = 0

  #any(): TestClient {
    const client = this.#clients[this.#next++ % this.#clients.length]
    if (client === undefined) throw new Error('no client')
    return client
  }
}

const deadline = (ms: number) => ({ deadline: Date.now() + ms })
