import { Connection, type Prepared, prepare } from './connection.js'
import { type LoadResult, type Request, sentBytes, unframed } from './request.js'
import type { Target } from './target.js'

export interface EachOptions {
  readonly concurrency: number
  /** Connections the calls are spread over. Default 1. */
  readonly connections?: number
  /** Sees every message of every answer, after the clock has stopped; throws when it is not what a working server says. */
  readonly check?: (message: Buffer) => void
}

/** Calls that all differ, which h2load cannot send. Everything is encoded before the clock starts. */
export const each = async (
  target: Target,
  requests: readonly Request[],
  { concurrency, connections: count = 1, check }: EachOptions,
): Promise<LoadResult> => {
  const queue = requests.map(prepare).reverse()
  const connections = await Promise.all(Array.from({ length: count }, () => Connection.open(target)))
  const latenciesMs: number[] = []
  let received = 0
  const answers: Buffer[] = []
  const lane = async (connection: Connection): Promise<void> => {
    for (let next: Prepared | undefined = queue.pop(); next !== undefined; next = queue.pop()) {
      const { latencyMs, byteCount, bytes } = await connection.call(next, check !== undefined)
      latenciesMs.push(latencyMs)
      received += byteCount
      if (check !== undefined) answers.push(bytes)
    }
  }
  try {
    const startMs = performance.now()
    const lanes = connections.flatMap((connection) =>
      Array.from({ length: Math.ceil(concurrency / count) }, () => lane(connection)),
    )
    await Promise.all(lanes)
    const seconds = (performance.now() - startMs) / 1000
    if (check !== undefined) for (const bytes of answers) for (const message of unframed(bytes)) check(message)
    const wireBytes = { sent: sentBytes(requests) / requests.length, received: received / requests.length }
    return { seconds, requests: requests.length, latenciesMs, wireBytes }
  } finally {
    for (const connection of connections) connection.close()
  }
}
