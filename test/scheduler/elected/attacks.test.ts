/** Whoever reaches the door for servers of one queue, while builds go on beside it. */
import { readFile } from 'node:fs/promises'
import t, { type Test } from 'tap'
import { ManualClock } from '../../../src/base/clock.js'
import type { Input } from '../../../src/proto/codec.js'
import { PatientClient } from '../../chaos/client.js'
import { TestClient } from '../../server/client.js'
import { buildAction, FakeWorker, Reader } from '../../service/execution-harness.js'
import { failure } from '../../service/harness.js'
import { withoutRedis } from '../../store/kinds/redis_store/redis.js'
import { until } from '../../until.js'
import { QueueOfServers } from './queue-of-servers.js'

const skip = withoutRedis
const JOIN = 'remexec.scheduler.v1.Scheduling/Join'

type Said = Input<'remexec.scheduler.v1.FrontMessage'>

const hello = (more: Said['hello'] = {}): Said => ({
  hello: { protocolVersion: 1, saysKept: true, scheduler: 'MAIN', serverId: 'stranger', ...more },
})

/** A leader, its worker, and a build whose actions each have to succeed. */
const start = async (t: Test) => {
  const queue = await QueueOfServers.start(t, 2)
  const leader = queue.leader() ?? queue.follower()
  queue.point(leader)
  const worker = queue.worker('one')
  await worker.hears(/connected to the scheduler/)
  const bystander = new PatientClient(queue.address)
  t.teardown(() => bystander.close())
  let builds = 0
  const build = async (): Promise<void> => {
    const command = { arguments: ['/bin/sh', '-c', `echo ${++builds}`] }
    const built = buildAction({ command })
    await bystander.upload(built)
    const { result } = await bystander.run(built)
    t.equal(result?.exitCode, 0, `action ${builds} beside it`)
  }
  const connect = () => {
    const client = new TestClient(`127.0.0.1:${leader.port}`, { 'grpc.use_local_subchannel_pool': 1 })
    t.teardown(() => client.close())
    return client
  }
  const join = () => {
    const stream = connect().bidi(JOIN)
    stream.on('error', () => {})
    return { stream, send: (message: Said) => stream.write(message), reader: new Reader(stream) }
  }
  const residentMib = async (): Promise<number> => {
    const status = await readFile(`/proc/${leader.process.child.pid}/status`, 'utf8')
    return Number(/VmRSS:\s+(\d+)/.exec(status)?.[1]) / 1024
  }
  return { queue, leader, bystander, build, connect, join, residentMib }
}

t.test('neither numbers nor nonsense at the door of servers end an office or a build', { skip }, async (t) => {
  const { queue, leader, build, connect, join } = await start(t)
  await build()
  // Terms that were never held: of a server that only forwards, and of a worker.
  for (const highestEpoch of [2, 1_000_000, 2 ** 47]) {
    const { send, reader } = join()
    send(hello({ highestEpoch, termKey: 'made up' }))
    t.match(await reader.next(), { welcome: { epoch: 1 } }, `told of term ${highestEpoch}`)
    send({ termSeen: { highestEpoch, termKey: '' } })
    await build()
  }
  const claims = { highestEpoch: 2 ** 47, termKey: 'made up' }
  t.ok((await new FakeWorker(connect(), new ManualClock()).hello(claims)).id)
  const refused: [string, Said[], object][] = [
    ['no hello', [{ holdingEnded: {} }], { code: 'INVALID_ARGUMENT' }],
    ['a second hello', [hello(), hello()], { code: 'INVALID_ARGUMENT' }],
    ['another version', [hello({ protocolVersion: 7 })], { code: 'FAILED_PRECONDITION' }],
    ['another scheduler', [hello({ scheduler: '../MAIN\n' })], { code: 'FAILED_PRECONDITION' }],
    ['an id that is a path', [hello(), { attend: { id: '../../x', instanceName: '' } }], { code: 'INVALID_ARGUMENT' }],
    [
      'an id that is long',
      [hello(), { attend: { id: 'x'.repeat(100_000), instanceName: '' } }],
      { code: 'INVALID_ARGUMENT' },
    ],
    ['a hand-in without an action', [hello(), { handIn: { id: 'a', instanceName: '' } }], { code: 'INVALID_ARGUMENT' }],
  ]
  for (const [what, messages, error] of refused) {
    const { send, reader } = join()
    for (const message of messages) send(message)
    t.match(await failure(reader.rest()), error, what)
  }
  await build()
  t.equal(queue.term(leader), 1, 'it still leads its first term')
})

t.test(
  'a flood of hand-ins by one that never reads fills neither the queue of others nor the memory',
  { skip },
  async (t) => {
    const { queue, leader, build, join, residentMib } = await start(t)
    await build()
    const beforeMib = await residentMib()
    const strangers = Array.from({ length: 4 }, () => join())
    const property = { name: 'p', value: 'x'.repeat(50_000) }
    for (const { stream, send, reader } of strangers) {
      send(hello())
      await reader.next()
      stream.pause()
    }
    const actionDigest = { hash: 'a'.repeat(64), sizeBytes: 1 }
    // 400 MB, as far as the server takes it, and 20,000 that ask for what nobody knows.
    let taken = 0
    for (let round = 0; round < 2000; round++) {
      const { stream, send } = strangers[round % strangers.length] as (typeof strangers)[number]
      let looks = 0
      await until(() => !stream.writableNeedDrain || stream.destroyed || looks++ > 100)
      if (stream.writableNeedDrain || stream.destroyed) continue
      const id = `flood-${round}`
      send({
        handIn: {
          id,
          instanceName: '',
          isAttended: true,
          wasLookedUp: true,
          actionDigest,
          properties: [property, property],
        },
      })
      for (let at = 0; at < 10; at++) send({ attend: { id: `${id}-${at}`, instanceName: '' } })
      send({ kept: { id: `${id}-none` } })
      send({ leave: { id: `${id}-none` } })
      taken++
      if (round % 100 === 0) await build()
    }
    t.comment(`${taken} of 2,000 hand-ins were written`)
    await build()
    const grownMib = (await residentMib()) - beforeMib
    t.ok(grownMib < 900, `${Math.round(grownMib)} MiB more, below the bound of operations and what was received`)
    for (const { stream } of strangers) stream.cancel()
    await build()
    t.equal(queue.term(leader), 1)
  },
)

t.test('a stream that opens and says nothing is closed, and takes no office along', { skip }, async (t) => {
  const { queue, leader, build, join } = await start(t)
  const silent = Array.from({ length: 20 }, () => join())
  await build()
  for (const { stream } of silent.slice(10)) stream.end()
  const ends = Promise.all(silent.map(({ reader }) => failure(reader.rest())))
  await build()
  const [first, ...others] = await ends
  t.match(first, { code: 'DEADLINE_EXCEEDED', message: /no Hello within 10 s/ })
  t.equal(others.filter(({ code }) => code === 'OK').length, 10, 'those that have ended')
  t.equal(queue.term(leader), 1)
})
