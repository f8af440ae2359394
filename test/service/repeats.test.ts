import { Writable } from 'node:stream'
import t from 'tap'
import { ManualClock } from '../../src/base/clock.js'
import { REPEAT_MS, Repeats } from '../../src/service/repeats.js'
import { buildAction, Reader, serveExecution } from './execution-harness.js'

t.test(
  'a client that waits for an action hears its state every 30 seconds, so that no proxy cuts a silent stream',
  async (t) => {
    const server = await serveExecution(t)
    const executed = new Reader(server.execute(await server.upload(buildAction())))
    const first = await executed.next()
    const waited = new Reader(server.wait(first.name))
    await waited.next()
    server.clock.advance(REPEAT_MS)
    for (const stream of [executed, waited]) t.match(await stream.next(), { name: first.name, done: false })
    const worker = await server.worker()
    worker.succeed(await worker.start())
    for (const stream of [executed, waited]) t.ok((await stream.until(({ done }) => done)).done)
  },
)

const kept = (highWaterMark: number) => {
  const messages: object[] = []
  const stream = new Writable({
    objectMode: true,
    highWaterMark,
    write: (message, _, done) => {
      messages.push(message)
      if (highWaterMark > 1) done()
    },
  })
  return { messages, stream }
}

t.test('a stream that speaks, has ended, or does not read gets nothing again', async (t) => {
  const clock = new ManualClock()
  const repeats = new Repeats(clock)
  const [spoke, ended, reads, stuck] = [kept(16), kept(16), kept(16), kept(1)]
  const speak = repeats.add(spoke.stream, { of: 'spoke' })
  repeats.add(ended.stream, { of: 'ended' })
  const ends = repeats.add(reads.stream, { of: 'reads' })
  const endsToo = repeats.add(stuck.stream, { of: 'stuck' })
  ended.stream.destroy()
  clock.advance(REPEAT_MS - 1000)
  t.same(reads.messages, [])
  speak()
  clock.advance(3 * REPEAT_MS)
  t.equal(spoke.messages.length, 0)
  t.equal(ended.messages.length, 0)
  t.equal(reads.messages.length, 3)
  t.equal(stuck.messages.length, 1, 'a client that reads nothing has one message to read')
  ends()
  endsToo()
  clock.advance(2000)
  t.equal(clock.nextInMs, Number.POSITIVE_INFINITY, 'no timer without streams')
})
