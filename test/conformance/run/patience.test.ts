import { createServer, type Socket } from 'node:net'
import { credentials } from '@grpc/grpc-js'
import t from 'tap'
import { Client } from '../../../conformance/wire/client.js'
import { Patience } from '../../../conformance/wire/patience.js'

const SILENT = { responses: [], isOverdue: true }
const ANSWERED = { responses: [], isOverdue: false }

const silences = (patience: Patience, method: string, count: number): void => {
  for (let at = 0; at < count; at++) patience.noteEnd(method, SILENT)
}

t.test('a method that keeps silent is waited for less, until it answers again', async (t) => {
  const patience = new Patience()
  silences(patience, 'Write', 2)
  t.equal(patience.deadlineMs('Write', 10_000), 10_000)
  silences(patience, 'Write', 1)
  t.equal(patience.deadlineMs('Write', 10_000), 1_000)
  t.equal(patience.deadlineMs('Write', 300), 300, 'what is shorter anyway stays')
  t.equal(patience.deadlineMs('Read', 10_000), 10_000, 'other methods are none of it')
  patience.noteEnd('Write', ANSWERED)
  t.equal(patience.deadlineMs('Write', 10_000), 10_000)
})

t.test('one silent method does not end a run, however often it is asked', async (t) => {
  const patience = new Patience()
  silences(patience, 'Write', 100)
  t.equal(patience.reason, undefined)
})

t.test('several silent methods end it, unless one of the others answers in between', async (t) => {
  const patience = new Patience()
  for (const method of ['Write', 'Read', 'Execute']) silences(patience, method, 1)
  patience.noteEnd('FindMissingBlobs', ANSWERED)
  silences(patience, 'GetTree', 1)
  t.equal(patience.reason, undefined)
  for (const method of ['Write', 'Read']) silences(patience, method, 1)
  patience.noteEnd('GetCapabilities', ANSWERED)
  silences(patience, 'Execute', 1)
  t.match(patience.reason, /GetTree, Write, Read, Execute did not answer in a row/)
  t.ok(patience.signal.aborted)
})

t.test('responses that look like silence and are none', async (t) => {
  const patience = new Patience()
  for (let at = 0; at < 5; at++) {
    patience.noteEnd('Read', { ...SILENT, isOverdue: false })
    patience.noteEnd('Execute', { ...SILENT, responses: [{}] })
  }
  t.equal(patience.deadlineMs('Read', 10_000), 10_000, 'the server itself said DEADLINE_EXCEEDED')
  t.equal(patience.deadlineMs('Execute', 10_000), 10_000, 'the action waits in the queue')
  for (let at = 0; at < 3; at++) patience.noteEnd('Read', { ...SILENT, responses: [{}] })
  t.equal(patience.deadlineMs('Read', 10_000), 1_000, 'a download that trickles')
})

t.test('a factor stretches every deadline, also that of a silent method', async (t) => {
  const patience = new Patience(3)
  t.equal(patience.deadlineMs('Write', 10_000), 30_000)
  t.equal(patience.scaledMs(500), 1_500)
  for (let at = 0; at < 3; at++) patience.noteEnd('Write', SILENT)
  t.equal(patience.deadlineMs('Write', 10_000), 3_000)
})

t.test('--patience also multiplies the time that a connection may take', async (t) => {
  // It accepts connections and never says a word on them.
  const accepted = new Set<Socket>()
  const silent = createServer((socket) => accepted.add(socket.on('error', () => {}))).listen(0, '127.0.0.1')
  await new Promise((resolve) => silent.once('listening', resolve))
  t.teardown(() => {
    silent.close()
    for (const socket of accepted) socket.destroy()
  })
  const address = silent.address()
  if (address === null || typeof address === 'string') throw new Error('not a TCP address')
  const identity = { toolName: 'test', invocationId: 'test' }
  const settings = { headers: {}, identity, patience: new Patience(1e-5) }
  const client = new Client(`127.0.0.1:${address.port}`, credentials.createInsecure(), settings)
  t.teardown(() => client.close())
  await t.rejects(client.waitForReady(3_600_000), /before the deadline/, 'an hour is 36 ms')
})
