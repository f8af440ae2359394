import { type ChildProcess, fork } from 'node:child_process'
import { randomBytes } from 'node:crypto'
import { once } from 'node:events'
import { setTimeout } from 'node:timers/promises'
import { codec } from '../../src/proto/codec.js'
import type { Builds, EventCase, Observation } from '../case.js'
import { digestOf, store } from '../content.js'
import { each } from '../load/each.js'
import type { Request } from '../load/request.js'
import { benchConfig } from '../server/config.js'
import { type ServerProcess, startRemexec } from '../server/process.js'
import { percentile } from '../statistics.js'

const REAPI = 'build.bazel.remote.execution.v2'
const ACTIONS = 200
const DEADLINE_EXCEEDED = 4

/** Two processes that live until their time is over and they are killed. */
const command = codec(`${REAPI}.Command`).encode({
  arguments: ['/bin/sh', '-c', 'echo begun > out; sleep 600 & sleep 600'],
  outputPaths: ['out'],
})
const root = codec(`${REAPI}.Directory`).encode({})

/** A worker that takes all of them at once. */
const configure = (dataPath: string): object => {
  const config = benchConfig(dataPath) as { readonly workers: readonly { readonly local: object }[] }
  return {
    ...config,
    workers: config.workers.map(({ local }) => ({ local: { ...local, max_inflight_tasks: ACTIONS } })),
  }
}

const dyingActions = async (server: ServerProcess): Promise<Request[]> => {
  const actions = Array.from({ length: ACTIONS }, () =>
    codec(`${REAPI}.Action`).encode({
      ...{ commandDigest: digestOf(command), inputRootDigest: digestOf(root), salt: randomBytes(16) },
      timeout: { seconds: 2, nanos: 0 },
    }),
  )
  await store(server, [command, root, ...actions])
  return actions.map((action) => ({
    path: `/${REAPI}.Execution/Execute`,
    messages: [codec(`${REAPI}.ExecuteRequest`).encode({ actionDigest: digestOf(action) })],
  }))
}

const checkDead = (bytes: Buffer): void => {
  const { done, response } = codec('google.longrunning.Operation').decode(bytes)
  if (!done) return
  const { status } = codec(`${REAPI}.ExecuteResponse`).decode(response?.value ?? Buffer.alloc(0))
  if (status?.code !== DEADLINE_EXCEEDED) throw new Error(`an action ended with ${status?.code}: ${status?.message}`)
}

/**
 * Calls GetCapabilities repeatedly on a connection of its own until `work` has ended: from a process of its own, because what is
 * to be seen is how long the server takes, and this process applies the load.
 */
export const latenciesDuring = async (
  { address }: ServerProcess,
  work: () => Promise<unknown>,
): Promise<readonly number[]> => {
  const asking = fork(new URL('../load/asking.ts', import.meta.url), [JSON.stringify({ address })])
  try {
    await Promise.race([once(asking, 'message'), failed(asking)])
    await work()
    asking.send('over')
    const [tookMs] = await Promise.race([once(asking, 'message'), failed(asking)])
    return tookMs
  } finally {
    asking.kill()
  }
}

const failed = async (asking: ChildProcess): Promise<never> => {
  const [code] = await once(asking, 'exit')
  throw new Error(`the process that asks ended with ${code}`)
}

async function* observe({ cli, profileFolder, rounds }: Builds): AsyncGenerator<Observation> {
  const server = await startRemexec(configure, { cli, profileFolder })
  const alone: (readonly number[])[] = []
  const meanwhile: (readonly number[])[] = []
  try {
    for (let round = 0; round <= rounds; round++) {
      const actions = await dyingActions(server)
      const quiet = await latenciesDuring(server, () => setTimeout(2_000))
      const busy = await latenciesDuring(server, () =>
        each(server, actions, { concurrency: ACTIONS, check: checkDead }),
      )
      // The first is to warm up.
      if (round === 0) continue
      alone.push(quiet)
      meanwhile.push(busy)
    }
  } finally {
    await server.stop()
  }
  for (const percent of [50, 99]) {
    const at = (lists: readonly (readonly number[])[]): number[] => lists.map((list) => percentile(list, percent))
    const beside = { name: 'nothing else', values: at(alone) }
    yield { name: `GetCapabilities, p${percent}`, unit: 'ms', values: at(meanwhile), beside }
  }
}

/** Whether starting and killing actions in the worker process delays the server's event loop. */
export const meanwhileCases = (): readonly EventCase[] => [
  { kind: 'event', name: 'GetCapabilities while 200 actions start and die', observe },
]
