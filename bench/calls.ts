import { Client, credentials } from '@grpc/grpc-js'
import type { LoadResult } from './load.js'

export interface Calls {
  readonly address: string
  readonly path: string
  /** The messages of each request, encoded. Made before the clock starts. */
  readonly requests: readonly (readonly Buffer[])[]
  readonly concurrency: number
  /** Sees every response; throws when it is not what a working server answers. */
  readonly check?: (response: Buffer) => void
}

const pass = (bytes: Buffer): Buffer => bytes

/** Requests that all differ, which h2load cannot send: a grpc-js client without codecs. The same for both sides. */
export const driveCalls = async (calls: Calls): Promise<LoadResult> => {
  const client = new Client(calls.address, credentials.createInsecure(), {
    'grpc-node.flow_control_window': 4 << 20,
    'grpc.max_receive_message_length': 16 << 20,
    'grpc.use_local_subchannel_pool': 1,
  })
  const queue = [...calls.requests]
  const startMs = performance.now()
  try {
    const lane = async (): Promise<void> => {
      for (let messages = queue.pop(); messages !== undefined; messages = queue.pop()) {
        await one(client, calls, messages)
      }
    }
    await Promise.all(Array.from({ length: calls.concurrency }, lane))
    return { seconds: (performance.now() - startMs) / 1000, requests: calls.requests.length }
  } finally {
    client.close()
  }
}

const one = (client: Client, calls: Calls, messages: readonly Buffer[]): Promise<void> =>
  new Promise((resolve, reject) => {
    const call = client.makeBidiStreamRequest(calls.path, pass, pass)
    let problem: unknown
    call.on('data', (response: Buffer) => {
      try {
        calls.check?.(response)
      } catch (error) {
        problem = error
      }
    })
    call.on('error', (error: Error) => {
      problem ??= error
    })
    call.on('status', ({ code, details }) => {
      if (code !== 0) problem ??= new Error(`${calls.path}: ${code} ${details}`)
      if (problem === undefined) resolve()
      else reject(problem)
    })
    let next = 0
    const pump = (): void => {
      for (; next < messages.length; next++) {
        if (!call.write(messages[next] as Buffer)) {
          next++
          call.once('drain', pump)
          return
        }
      }
      call.end()
    }
    pump()
  })
