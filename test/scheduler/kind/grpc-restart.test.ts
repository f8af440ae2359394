import t, { type Test } from 'tap'
import { ManualClock } from '../../../src/base/clock.js'
import { Code } from '../../../src/base/status-error.js'
import { silentLog } from '../../../src/log/log.js'
import { Spread } from '../../../src/scheduler/elected/spread.js'
import { grpc } from '../../../src/scheduler/kind/grpc.js'
import type { SimpleSettings } from '../../../src/scheduler/simple/settings.js'
import { Resources } from '../../../src/work/resources.js'
import {
  buildAction,
  OPERATIONS,
  Reader,
  responseOf,
  serveExecution,
  stageOf,
} from '../../service/execution-harness.js'
import { failure, put } from '../../service/harness.js'
import { TcpProxy } from '../../store/remote/proxy.js'
import { found, until } from '../../until.js'

const portOf = (address: string): number => Number(address.slice(address.lastIndexOf(':') + 1))

/** A server with a scheduler that other servers hand in to, at an address behind which it can be replaced. */
const serveBehindProxy = async (t: Test, { waitS = 600, settings = {} as Partial<SimpleSettings> } = {}) => {
  const back = await serveExecution(t, { takesFronts: true, settings })
  const proxy = await TcpProxy.start(t, portOf(back.address))
  let ids = 0
  const scheduler = await grpc.build(
    {
      endpoint: {
        ...{ address: `grpc://127.0.0.1:${proxy.port}`, concurrency_limit: 0, connect_timeout_s: 60 },
        ...{ http2_keepalive_interval_s: 30, http2_keepalive_timeout_s: 20 },
      },
      retry: { max_retries: 2, delay: 0.01, jitter: 0, budget_s: 0 },
      ...{ max_concurrent_requests: 0, connections_per_endpoint: 1, headers: new Map(), scheduler_wait_s: waitS },
    },
    {
      ...{ name: 'FRONT', clock: new ManualClock(), log: silentLog, resources: new Resources(silentLog) },
      newId: () => `front-${++ids}`,
      results: { find: async () => undefined, keep: async (_, response) => response },
      spread: new Spread(),
      watch: () => {},
      child: () => Promise.reject(new Error('there is none behind')),
    },
  )
  t.teardown(() => scheduler.close())
  const front = await serveExecution(t, { before: () => scheduler })
  const upload = async (to: readonly (typeof back)[], built = buildAction()) => {
    for (const { cas } of to) await put(cas, built.action, built.command, built.root)
    return built
  }
  /** The scheduler is killed, and another process takes its address. */
  const restart = async () => {
    proxy.refuses = true
    back.host.close()
    const anew = await serveExecution(t, { takesFronts: true, settings })
    proxy.backendPort = portOf(anew.address)
    proxy.refuses = false
    return anew
  }
  return { back, proxy, front, scheduler, upload, restart }
}

/** The streams of some tests are still open at their end. */
const begin = (stream: ReturnType<Awaited<ReturnType<typeof serveExecution>>['execute']>) =>
  new Reader(stream.on('error', () => {}))

const action = (name: string) => buildAction({ command: { arguments: [name] } })

t.test('an action is handed in, runs there, and its operation has a name of this server', async (t) => {
  const { back, front, upload } = await serveBehindProxy(t)
  const built = await upload([front, back])
  const stream = begin(front.execute(built, { executionPolicy: { priority: 7 } }))
  const { name } = await stream.next()
  t.equal(name, 'operations/FRONT/front-1')
  const worker = await back.worker()
  const start = await worker.start()
  t.match(start, { priority: 7, operationName: 'operations/main/front-1' })
  worker.succeed(start, { stdoutRaw: Buffer.from('there') })
  const last = (await stream.rest()).at(-1)
  t.equal(last?.name, name)
  t.equal(last && responseOf(last).result?.stdoutRaw.toString(), 'there')
  const again = await new Reader(front.wait(name)).rest()
  t.equal(again.at(-1) && responseOf(again.at(-1) as never).result?.stdoutRaw.toString(), 'there', 'asked for again')
})

t.test('a queued action waits on while the scheduler restarts, and keeps its time, place and client', async (t) => {
  const { back, front, upload, restart } = await serveBehindProxy(t)
  const built = await upload([front, back], action('one'))
  const stream = begin(front.execute(built, { executionPolicy: { priority: 3 } }))
  await stream.until((operation) => stageOf(operation) === 2)
  const anew = await restart()
  await upload([anew], action('one'))
  const worker = await anew.worker()
  const start = await worker.start()
  t.match(start, { priority: 3, operationName: 'operations/main/front-1' })
  worker.succeed(start)
  t.equal((await stream.rest()).at(-1)?.done, true)
})

t.test('a running action goes on while the scheduler restarts: its worker brings it, and it runs once', async (t) => {
  const { back, front, upload, restart } = await serveBehindProxy(t)
  const built = await upload([front, back], action('one'))
  const stream = begin(front.execute(built))
  const worker = await back.worker()
  const start = await worker.start()
  await stream.until((operation) => stageOf(operation) === 3)
  const anew = await restart()
  const other = await anew.worker({ name: 'other' })
  const known = async () => (await anew.host.get(start.operationName))?.progress?.workerId
  await found(known, 'the operation at the new scheduler')
  t.equal(await known(), worker.id, 'nobody else gets it')
  const back2 = await anew.worker({ workerId: worker.id, attemptIds: [start.attemptId], attempts: [start] })
  t.equal(back2.id, worker.id)
  back2.succeed(start, { stdoutRaw: Buffer.from('once') })
  const last = (await stream.rest()).at(-1)
  t.equal(last && responseOf(last).result?.stdoutRaw.toString(), 'once')
  other.stream.end()
})

t.test('a client that asks another server, or the same after its restart, finds its operation', async (t) => {
  const { back, front, upload } = await serveBehindProxy(t)
  const second = await serveBehindProxy(t)
  second.proxy.backendPort = portOf(back.address)
  const built = await upload([front, back], action('one'))
  const { name } = await begin(front.execute(built)).next()
  const worker = await back.worker()
  const start = await worker.start()
  const stream = new Reader(second.front.wait(name))
  t.equal((await stream.next()).name, name)
  worker.succeed(start)
  t.equal((await stream.rest()).at(-1)?.done, true)
  const missing = new Reader(second.front.wait('operations/FRONT/never-was'))
  t.equal((await failure(missing.next())).code, 'NOT_FOUND')
})

t.test('GetOperation, ListOperations and CancelOperation reach the operation at the scheduler', async (t) => {
  const { back, front, upload } = await serveBehindProxy(t)
  const built = await upload([front, back], action('one'))
  const stream = begin(front.execute(built))
  const { name } = await stream.until((operation) => stageOf(operation) === 2)
  t.equal((await front.client.unary(`${OPERATIONS}/GetOperation`, { name }).response).name, name)
  const { operations } = await front.client.unary(`${OPERATIONS}/ListOperations`, { name: 'operations' }).response
  t.same(
    operations.map((operation: { name: string }) => operation.name),
    [name],
  )
  await front.client.unary(`${OPERATIONS}/CancelOperation`, { name }).response
  const last = (await stream.rest()).at(-1)
  t.equal(last && responseOf(last).status?.code, Code.CANCELLED)
})

t.test(
  'a scheduler that stays away: its clients get UNAVAILABLE after scheduler_wait_s, and new ones at once',
  async (t) => {
    const { back, front, upload, proxy } = await serveBehindProxy(t, { waitS: 0.3 })
    const built = await upload([front, back], action('one'))
    const stream = begin(front.execute(built))
    await stream.until((operation) => stageOf(operation) === 2)
    proxy.refuses = true
    t.match((await failure(stream.rest())).message, /could not be reached for 0.3 s/)
    t.equal((await failure(begin(front.execute(built)).next())).code, 'UNAVAILABLE')
    proxy.refuses = false
    await until(async () => {
      const next = begin(front.execute(built))
      return next.next().then(
        () => true,
        () => false,
      )
    }, 'operations again')
  },
)

t.test('a connection that is only silent is taken for lost', async (t) => {
  const { back, front, upload, proxy } = await serveBehindProxy(t)
  const built = await upload([front, back], action('one'))
  const stream = begin(front.execute(built))
  await stream.until((operation) => stageOf(operation) === 2)
  proxy.cut()
  const worker = await back.worker()
  worker.succeed(await worker.start())
  t.equal((await stream.rest()).at(-1)?.done, true, 'joined again, it hears of the end')
})

t.test('300 operations are handed in again to a queue that is full for new ones', async (t) => {
  const { back, front, upload, restart } = await serveBehindProxy(t, { settings: { maxQueuedActions: 300 } })
  const names = Array.from({ length: 300 }, (_, index) => `action ${index}`)
  const streams: ReturnType<typeof begin>[] = []
  for (const name of names) streams.push(begin(front.execute(await upload([front, back], action(name)))))
  for (const stream of streams) await stream.next()
  await until(() => back.host.operator.overview().queued === 300, 'a full queue')
  const anew = await restart()
  await until(() => anew.host.operator.overview().queued === 300, 'all of them in the new queue')
})
