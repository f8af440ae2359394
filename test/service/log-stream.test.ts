/** What an action prints, by ByteStream.Read while it runs: `stdout_stream_name` and `stderr_stream_name` of its operation. */
import { createHash } from 'node:crypto'
import { Metadata } from '@grpc/grpc-js'
import t, { type Test } from 'tap'
import { unpack } from '../../src/proto/any.js'
import { logStreamIn, logStreamName } from '../../src/reapi/log-stream-name.js'
import { Uploader } from '../pages/actions/fixture.js'
import { bearer, type Guarded, startGuarded } from '../security/server.js'
import { during } from '../until.js'
import { EXECUTION, FakeWorker, metadataCodec, Reader } from './execution-harness.js'

const READ = 'google.bytestream.ByteStream/Read'
const PAUSE_MS = 500

interface Part {
  readonly data: Buffer
}

const running = async (t: Test, security?: object, metadata = new Metadata(), workerMetadata = new Metadata()) => {
  const server = await startGuarded(t, security)
  const headers = Object.fromEntries(Object.entries(metadata.getMap()).map(([name, value]) => [name, String(value)]))
  const digest = await new Uploader(server.client, 'main', headers).action({ arguments: ['a'], outputPaths: ['a'] })
  const worker = await new FakeWorker(server.client, server.clock, workerMetadata).hello({ maxInflightAttempts: 1 })
  const asked = { instanceName: 'main', actionDigest: digest.toMessage() }
  const stream = server.client.serverStream(`${EXECUTION}/Execute`, asked, { metadata })
  stream.on('error', () => {})
  const reader = new Reader<{ name: string; done: boolean; metadata: never }>(stream)
  const start = await worker.start()
  worker.send({ progress: { attemptId: start.attemptId, stage: 2 } })
  const isNamed = ({ metadata: any }: { metadata: never }) => unpack(metadataCodec, any).stdoutStreamName !== ''
  const operation = await reader.until(isNamed)
  const { stdoutStreamName, stderrStreamName } = unpack(metadataCodec, operation.metadata)
  return { server, worker, start, reader, operation, stdoutStreamName, stderrStreamName }
}

const read = ({ client }: Guarded, resourceName: string, more: object = {}, metadata = new Metadata()) => {
  const stream = client.serverStream(READ, { resourceName, ...more }, { metadata })
  stream.on('error', () => {})
  return new Reader<Part>(stream)
}

const asked = (worker: FakeWorker, { clock }: Guarded) =>
  during(
    worker.messages.until(({ readPrinted }) => readPrinted !== null),
    () => {
      if (clock.nextInMs <= PAUSE_MS) clock.advance(PAUSE_MS)
    },
  )

const codeOf = (work: Promise<unknown>) =>
  work.then(
    () => 0,
    ({ code }: { code: number }) => code,
  )

t.test(
  'a late reader gets the oldest byte that is kept, what comes next, and the rest when the action ends',
  async (t) => {
    const { server, worker, start, reader, stdoutStreamName } = await running(t)
    t.match(stdoutStreamName, /^main\/logstreams\/S\/[\w-]+\/stdout$/)
    const log = read(server, stdoutStreamName)
    const first = (await asked(worker, server)).readPrinted
    t.match(first, { attemptId: start.attemptId, stdoutOffset: 0 })
    t.ok((first?.stderrOffset ?? 0) > 2 ** 50, 'of the other output nothing is asked for')
    const tell = (id: number, text: string, stdoutSize: number) =>
      worker.send({ printedOutput: { id, runs: true, stdout: Buffer.from(text), stdoutSize } })
    tell(first?.id ?? 0, 'kept ', 1005)
    t.equal((await log.next()).data.toString(), 'kept ')
    const second = (await asked(worker, server)).readPrinted
    t.equal(second?.stdoutOffset, 1005)
    tell(second?.id ?? 0, 'new ', 1009)
    t.equal((await log.next()).data.toString(), 'new ')
    const whole = await new Uploader(server.client, 'main').blob(`${'.'.repeat(1000)}kept new end`)
    worker.report(start, { executeResponse: { result: { exitCode: 0, stdoutDigest: whole.toMessage() } } })
    await reader.until(({ done }) => done)
    const rest = await during(log.rest(), () => server.clock.advance(PAUSE_MS))
    t.equal(Buffer.concat(rest.map(({ data }) => data)).toString(), 'end')
  },
)

t.test('an action that has ended has its output by the same name, with offset and limit', async (t) => {
  const { server, worker, start, reader, stderrStreamName } = await running(t)
  worker.report(start, { executeResponse: { result: { exitCode: 1, stderrRaw: Buffer.from('it failed') } } })
  const last = await reader.until(({ done }) => done)
  t.equal(unpack(metadataCodec, last.metadata).stderrStreamName, '', 'it is not named any more')
  const [part, ...none] = await read(server, stderrStreamName, { readOffset: 3, readLimit: 4 }).rest()
  t.equal(part?.data.toString(), 'fail')
  t.same(none, [])
  t.same(await read(server, stderrStreamName, { readOffset: 1000 }).rest(), [])
  t.equal(await codeOf(read(server, stderrStreamName, { readOffset: -1 }).rest()), 11)
  // As the SDK for Go asks.
  const sdk = await read(server, `main/logstreams/${stderrStreamName}`).rest()
  t.equal(sdk[0]?.data.toString(), 'it failed')
})

t.test('another attempt is read from its begin', async (t) => {
  const { server, worker, start, stdoutStreamName } = await running(t)
  const log = read(server, stdoutStreamName)
  const first = (await asked(worker, server)).readPrinted
  worker.send({ printedOutput: { id: first?.id ?? 0, runs: true, stdout: Buffer.from('one'), stdoutSize: 3 } })
  t.equal((await log.next()).data.toString(), 'one')
  const other = await new FakeWorker(server.client, server.clock).hello({ maxInflightAttempts: 1 })
  worker.report(start, { workerError: { code: 14, message: 'gone' } })
  const again = await other.start()
  t.not(again.attemptId, start.attemptId)
  for (let offset = 3; offset !== 0; ) {
    const { readPrinted } = await asked(other, server)
    offset = readPrinted?.stdoutOffset ?? 0
    other.send({ printedOutput: { id: readPrinted?.id ?? 0, runs: true, stdout: Buffer.from('two'), stdoutSize: 3 } })
  }
  t.equal((await log.next()).data.toString(), 'two')
})

t.test('a reader that leaves asks no more, and one for an operation that nobody knows is told so', async (t) => {
  const { server, worker, stdoutStreamName } = await running(t)
  const stream = server.client.serverStream(READ, { resourceName: stdoutStreamName })
  const ended = new Promise((resolve) => stream.once('error', resolve))
  await asked(worker, server)
  stream.cancel()
  await ended
  const unknown = stdoutStreamName.replace(/[\w-]+\/stdout$/, 'none/stdout')
  t.equal(await codeOf(read(server, unknown).rest()), 5)
})

t.test('who may not see the operation cannot read what it prints', async (t) => {
  const names = ['ann', 'bob', 'reader', 'runner']
  const sha256 = (name: string) => createHash('sha256').update(`token-of-${name}`).digest('hex')
  const security = {
    identity: { tokens: names.map((name) => ({ name, sha256: sha256(name) })) },
    access: [
      { names: ['ann'], may: ['read_cas', 'write_cas', 'read_ac', 'execute'], instances: ['main'] },
      { names: ['bob'], may: ['read_cas', 'execute'], instances: ['other'] },
      { names: ['reader'], may: ['read_cas'], instances: ['main'] },
      { names: ['runner'], may: ['work'] },
    ],
  }
  const by = (name: string) => bearer(`token-of-${name}`)
  const { server, stdoutStreamName } = await running(t, security, by('ann'), by('runner'))
  t.equal(await codeOf(read(server, stdoutStreamName, {}, by('bob')).rest()), 3, 'of another instance')
  t.equal(await codeOf(read(server, `other/logstreams/${stdoutStreamName}`, {}, by('bob')).rest()), 3)
  const crossed = stdoutStreamName.replace(/^main/, 'other')
  t.equal(await codeOf(read(server, crossed, {}, by('bob')).rest()), 5)
  t.equal(await codeOf(read(server, stdoutStreamName, {}, by('reader')).rest()), 5, 'without execute')
  t.equal(await codeOf(read(server, stdoutStreamName).rest()), 16, 'without a token')
})

t.test('names', async (t) => {
  for (const instanceName of ['', 'main', 'a/b']) {
    const operation = `${instanceName === '' ? '' : `${instanceName}/`}operations/S/1-2`
    const name = logStreamName({ instanceName, operation }, 'stdout')
    t.same(logStreamIn(name), { instanceName, operation, output: 'stdout' }, name)
    const sdk = `${instanceName}/logstreams/${name}`
    t.same(logStreamIn(sdk), { instanceName, operation, output: 'stdout' }, sdk)
  }
  for (const name of ['', 'logstreams', 'blobs/a/1', 'logstreams//x/stdout', 'a/logstreams/S/1/stdin'])
    t.equal(logStreamIn(name), undefined, name)
})
