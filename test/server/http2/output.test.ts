import { setImmediate as turn } from 'node:timers/promises'
import t from 'tap'
import { reportTimerFailures } from '../../../src/base/timers.js'
import { Output } from '../../../src/server/http2/output.js'

/** An output whose writes end when the test says so. */
const start = () => {
  const writes: { readonly sizeBytes: number; readonly end: () => void }[] = []
  let rooms = 0
  const sink = {
    write: (parts: readonly Buffer[], written: () => void) => {
      writes.push({ sizeBytes: parts.reduce((sum, { length }) => sum + length, 0), end: written })
    },
  }
  const output = new Output(sink, () => {
    rooms++
  })
  const told: string[] = []
  const tell = (what: string) => () => {
    told.push(what)
  }
  return { output, writes, rooms: () => rooms, told, tell }
}

t.test('all bytes of a turn leave in one write, and only one write is in flight', async (t) => {
  const { output, writes, rooms, told, tell } = start()
  output.bytes(Buffer.alloc(10))
  output.bytes(Buffer.alloc(5000))
  output.whenWritten(tell('first'))
  await turn()
  output.bytes(Buffer.alloc(7))
  output.whenWritten(tell('second'))
  await turn()
  t.same(
    writes.map(({ sizeBytes }) => sizeBytes),
    [5010],
  )
  t.same([output.pendingBytes, told, rooms()], [5017, [], 0])
  output.whenEmpty(tell('empty'))
  writes[0]?.end()
  t.same([output.pendingBytes, told, rooms()], [7, ['first'], 1])
  writes[1]?.end()
  t.same([output.pendingBytes, told, rooms()], [0, ['first', 'second', 'empty'], 2])
})

t.test('a closed output writes nothing more, and nobody waits for it', async (t) => {
  const { output, writes, rooms, told, tell } = start()
  output.bytes(Buffer.alloc(10))
  output.whenWritten(tell('in flight'))
  await turn()
  output.bytes(Buffer.alloc(5000))
  output.whenWritten(tell('not sent'))
  output.whenEmpty(tell('empty'))
  output.close()
  t.same(told, ['not sent', 'empty'])
  output.whenWritten(tell('late'))
  output.whenEmpty(tell('late and empty'))
  output.close()
  output.bytes(Buffer.alloc(3))
  await turn()
  t.same(told, ['not sent', 'empty', 'late', 'late and empty'])
  writes[0]?.end()
  await turn()
  t.equal(writes.length, 1)
  t.same([told.slice(4), rooms()], [['in flight'], 0])
})

t.test('a connection that cannot be written to does not hold up the others of the turn', async (t) => {
  const failures: unknown[] = []
  reportTimerFailures(({ error }) => failures.push(error), 0)
  t.teardown(() => reportTimerFailures(undefined))
  const broken = new Output(
    {
      write: () => {
        throw new Error('broken')
      },
    },
    () => {},
  )
  const { output, writes } = start()
  broken.bytes(Buffer.alloc(10))
  output.bytes(Buffer.alloc(10))
  for (let count = 0; count < 3; count++) await turn()
  t.match(writes, [{ sizeBytes: 10 }])
  t.match(failures, [{ message: 'broken' }])
})
