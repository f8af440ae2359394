import t from 'tap'
import { ACKNOWLEDGE_WITHIN_MS } from '../../src/service/worker-api/stream-link.js'
import { buildAction, serveExecution } from '../service/execution-harness.js'
import { wire } from '../service/harness.js'
import { joined } from '../service/joined-front.js'
import { Bench, response } from './bench.js'

const acknowledged = (bench: Bench): string[] => bench.of('acknowledge').map(({ attemptId }) => attemptId)

/** One action that has run on worker w, and whose result is stored; its client has not left yet. */
const ran = () => {
  const bench = new Bench()
  bench.worker('w', [], 1)
  const name = bench.enqueue([], { action: 'a' })
  const attemptId = bench.of('start')[0]?.start.attemptId ?? ''
  bench.finish('w', attemptId)
  return { bench, name, attemptId }
}

t.test('a worker keeps its result until the client that waits has the outcome', async (t) => {
  const { bench, name, attemptId } = ran()
  t.same(acknowledged(bench), [])
  bench.do(bench.machine.clientDetached(bench.nowMs, name))
  t.same(acknowledged(bench), [attemptId])
})

t.test('all clients of a run have to have its outcome', async (t) => {
  const bench = new Bench()
  const [one, other] = [bench.enqueue([], { action: 'a' }), bench.enqueue([], { action: 'a' })]
  bench.worker('w', [], 1)
  const attemptId = bench.of('start')[0]?.start.attemptId ?? ''
  bench.finish('w', attemptId)
  bench.do(bench.machine.clientDetached(bench.nowMs, one))
  t.same(acknowledged(bench), [])
  bench.do(bench.machine.clientDetached(bench.nowMs, other))
  t.same(acknowledged(bench), [attemptId])
})

t.test('without a client the scheduler retains the outcome, and the result is acknowledged at once', async (t) => {
  const bench = new Bench()
  bench.worker('w', [], 1)
  const name = bench.enqueue([], { action: 'a' })
  bench.do(bench.machine.clientDetached(bench.nowMs, name))
  const attemptId = bench.of('start')[0]?.start.attemptId ?? ''
  bench.finish('w', attemptId)
  t.same(acknowledged(bench), [attemptId])
  t.match(bench.state(name), { stage: 'COMPLETED' })
})

t.test(
  'a result that nobody waits for any more, because its client cancels while it is stored, is acknowledged',
  async (t) => {
    const bench = new Bench()
    bench.worker('w', [], 1)
    const name = bench.enqueue([], { action: 'a' })
    const attemptId = bench.of('start')[0]?.start.attemptId ?? ''
    bench.do(bench.machine.report(bench.nowMs, 'w', attemptId, response))
    t.same(acknowledged(bench), [])
    bench.cancel(name)
    t.same(acknowledged(bench), [attemptId])
  },
)

t.test(
  'a worker that comes back with a result on its way to the clients is told nothing of it until they have it',
  async (t) => {
    const { bench, name, attemptId } = ran()
    bench.do(bench.machine.workerDisconnected(bench.nowMs, 'w'))
    const offer = { name: 'w', properties: new Map(), maxInflightAttempts: 1 }
    bench.do(bench.machine.workerConnected(bench.nowMs, 'w', offer, { attemptIds: [attemptId] }))
    bench.do(bench.machine.report(bench.nowMs, 'w', attemptId, response))
    t.same([acknowledged(bench), bench.of('kill')], [[], []])
    bench.do(bench.machine.clientDetached(bench.nowMs, name))
    t.same(acknowledged(bench), [attemptId])
  },
)

t.test('a client that never reads its end keeps the copy of the worker for half a minute, not for ever', async (t) => {
  const { bench, attemptId } = ran()
  bench.pass(30_100, ['w'])
  t.same(acknowledged(bench), [attemptId])
  t.equal(bench.machine.inspect().deadlines.size > 0, true, 'the operation is retained')
})

t.test('a server that forwards says that it has an outcome; until then its worker keeps it', async (t) => {
  const server = await serveExecution(t, { takesFronts: true })
  const built = await server.upload(buildAction())
  const worker = await server.worker()
  const { reader, send } = joined(server)
  send({ hello: { protocolVersion: 1, saysKept: true } })
  const asked = { id: 'a-1', actionDigest: wire(built.digest), digestFunction: built.digest.function.value }
  send({ handIn: { ...asked, isAttended: true } })
  const start = await worker.start()
  worker.succeed(start)
  await reader.until(({ end }) => end?.id === 'a-1')
  // Had it been acknowledged, the batch of acknowledgements would be due.
  t.ok(server.clock.nextInMs > ACKNOWLEDGE_WITHIN_MS)
  send({ kept: { id: 'a-1' } })
  t.equal(await worker.next('resultAck'), start.attemptId)
})

t.test('a front that is gone without a word: the scheduler retains the outcome for it', async (t) => {
  const server = await serveExecution(t, { takesFronts: true })
  const built = await server.upload(buildAction())
  const worker = await server.worker()
  const { reader, send, end } = joined(server)
  send({ hello: { protocolVersion: 1, saysKept: true } })
  const asked = { id: 'a-1', actionDigest: wire(built.digest), digestFunction: built.digest.function.value }
  send({ handIn: { ...asked, isAttended: true } })
  const start = await worker.start()
  worker.succeed(start)
  await reader.until((message) => message.end !== null)
  end()
  t.equal(await worker.next('resultAck'), start.attemptId)
  const second = joined(server)
  second.send({ hello: { protocolVersion: 1, saysKept: true } })
  second.send({ attend: { id: 'a-1', instanceName: '' } })
  t.ok((await second.reader.until((message) => message.end !== null)).end?.executeResponse)
})
