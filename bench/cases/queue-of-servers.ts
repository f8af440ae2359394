/** Actions through two servers with one queue, beside one process that has it alone. */
import type { ChildProcess } from 'node:child_process'
import { writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { startRedis, withoutRedis } from '../../test/store/kinds/redis_store/redis.js'
import { folderOf, freePorts, startBackend } from '../../test/store/remote/backend.js'
import type { RateCase } from '../case.js'
import { each } from '../load/each.js'
import { schedulingOnly } from '../server/config.js'
import { memoryPlace } from '../server/place.js'
import { startIdleWorker } from '../server/start-idle-worker.js'
import { checkOperation, trueActions } from './true.js'

interface Serving {
  readonly stores: readonly object[]
  readonly servers: readonly object[]
}

/** A server of the queue. Its stores are its own: a server checks the inputs of its clients, and the leader has the results. */
const inQueue = (dataPath: string): object => {
  const { stores, servers } = schedulingOnly(dataPath) as Serving
  const peers = { endpoint: { address: 'grpc://127.0.0.1:$BENCH_PEER' } }
  const listener = { http: { socket_address: '127.0.0.1:$BENCH_PEER' } }
  const execution = [{ instance_name: '', cas_store: 'CAS', scheduler: 'MAIN' }]
  return {
    stores: [...stores, { name: 'ELECTION', redis_store: { addresses: ['redis://127.0.0.1:$BENCH_REDIS'] } }],
    schedulers: [{ name: 'MAIN', simple: { experimental_backend: { redis: { redis_store: 'ELECTION' } }, peers } }],
    servers: [...servers, { name: 'peers', listener, services: { execution, worker_api: { scheduler: 'MAIN' } } }],
  }
}

const noOp = (): RateCase => {
  const stops: (() => unknown)[] = []
  const scope = { teardown: (stop: () => unknown) => void stops.unshift(stop) }
  const workers: ChildProcess[] = []
  /** Redis, and the server that leads before the measured one starts. */
  const env = async (): Promise<Readonly<Record<string, string>>> => {
    const redis = await startRedis(scope)
    const [leader = 0, follower = 0] = await freePorts(2)
    const folder = await folderOf(scope)
    await writeFile(join(folder, 'leader.json'), JSON.stringify(inQueue(folder)))
    const own = { BENCH_REDIS: `${redis.port}`, BENCH_PEER: `${leader}`, REMEXEC_LOG_FORMAT: 'text' }
    const args = ['dist/cli.js', join(folder, 'leader.json')]
    const options = { cwd: process.cwd(), env: { ...process.env, ...own } }
    await startBackend(scope, process.execPath, args, /this server leads the queue/, options)
    return { ...own, BENCH_PEER: `${follower}` }
  }
  const run: RateCase['run'] = async (server, requests, ready) => {
    const calls = await trueActions(server, requests)
    await ready()
    return each(server, calls, { concurrency: 64, check: checkOperation })
  }
  return {
    kind: 'rate',
    name: 'no-op actions through two servers with one queue',
    unit: 'op',
    unitsPerRequest: 1,
    requests: { least: 400, most: 10_000 },
    configure: inQueue,
    env,
    isSlow: true,
    ...(memoryPlace === undefined ? {} : { place: memoryPlace }),
    setUp: async (server) => void workers.push(await startIdleWorker(server)),
    run,
    limits: [{ name: 'one process', usesBare: true, configure: schedulingOnly, env: async () => ({}), run }],
    tearDown: async () => {
      for (const worker of workers) worker.kill()
      for (const stop of stops) await stop()
    },
  }
}

export const queueOfServersCases = (): readonly RateCase[] => (withoutRedis === false ? [noOp()] : [])
