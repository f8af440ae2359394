/** Actions through two servers with one queue, beside one process that has it alone. */
import { writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { startRedis, withoutRedis } from '../../test/store/kinds/redis_store/redis.js'
import { folderOf, freePorts, startBackend } from '../../test/store/remote/backend.js'
import type { RateCase } from '../case.js'
import { schedulingOnly } from '../server/config.js'
import { noOp } from './no-op.js'

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

const throughTwo = (): RateCase => {
  const stops: (() => unknown)[] = []
  const scope = { teardown: (stop: () => unknown) => void stops.unshift(stop) }
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
  const { tearDown, ...one } = noOp()
  return {
    ...one,
    name: 'no-op actions through two servers with one queue',
    configure: inQueue,
    env,
    isSlow: true,
    limits: [{ name: 'one process', usesBare: true, configure: schedulingOnly, env: async () => ({}), run: one.run }],
    tearDown: async () => {
      await tearDown?.()
      for (const stop of stops) await stop()
    },
  }
}

export const queueOfServersCases = (): readonly RateCase[] => (withoutRedis === false ? [throughTwo()] : [])
