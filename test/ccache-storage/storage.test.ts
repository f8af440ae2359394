import { PassThrough } from 'node:stream'
import t, { type Test } from 'tap'
import { ManualClock } from '../../src/base/clock.js'
import { lengthOf } from '../../src/ccache-storage/requests.js'
import { CcacheStorage } from '../../src/ccache-storage/storage.js'
import { connect } from '../../src/client/connect.js'
import { RemoteEntries } from '../../src/client/entries.js'
import { KnownSecrets } from '../../src/log/secrets.js'
import { digestFunctions } from '../../src/reapi/digest-function.js'
import { startGuarded } from '../security/server.js'
import { until } from '../until.js'

const KEY = Buffer.alloc(20, 7)
const OVERWRITE = 1
const keyed = (code: number, key = KEY): Buffer => Buffer.concat([Buffer.from([code, key.length]), key])
const put = (value: Buffer, flags = OVERWRITE, key = KEY): Buffer =>
  Buffer.concat([keyed(1, key), Buffer.from([flags]), lengthOf(value.length), value])
const get = (key = KEY): Buffer => keyed(0, key)
const [REMOVE, EXISTS] = [keyed(2), keyed(5)]
const [STOP, INFO] = [Buffer.from([3]), Buffer.from([4])]

const GREETING = Buffer.from([1, 3, 0, 1, 2])
const [OK, NOOP] = [Buffer.from([0]), Buffer.from([1])]
const value = (bytes: Buffer): Buffer => Buffer.concat([OK, lengthOf(bytes.length), bytes])

const ANYBODY = { access: [{ anonymous: true, may: ['read_cas', 'write_cas', 'read_ac', 'write_ac'] }] }

/** Sends requests over a connection of its own and gives everything that the helper answered. */
const ask = async (storage: CcacheStorage, ...requests: readonly Buffer[]) => {
  const input = new PassThrough()
  input.end(Buffer.concat(requests))
  const answered: Buffer[] = []
  const write = async (bytes: Buffer) => void answered.push(Buffer.from(bytes))
  const how = await storage.serve({ input, write, signal: new AbortController().signal }, () => () => {})
  return { how, bytes: Buffer.concat(answered) }
}

const answers = (t: Test, found: Buffer, ...expected: readonly Buffer[]) =>
  t.equal(found.toString('hex'), Buffer.concat([GREETING, ...expected]).toString('hex'))

const connected = async (t: Test, port: number, headers = {}) => {
  const [instanceName, digestFunction] = ['main', digestFunctions.SHA256]
  const target = { address: `grpc://127.0.0.1:${port}`, instanceName, digestFunction, headers, tls: {} }
  const server = await connect(target, new KnownSecrets())
  t.teardown(() => server.close())
  const entries = new RemoteEntries(server, 'ccache/1')
  const clock = new ManualClock(1)
  return { clock, storage: new CcacheStorage({ entries, identity: 'helper 1', clock, hide: (text) => text }) }
}

t.test('values of each size come back; absent keys, overwriting, removal, information and the end', async (t) => {
  const { port } = await startGuarded(t, ANYBODY)
  const { storage } = await connected(t, port)
  answers(t, (await ask(storage, get(), EXISTS)).bytes, NOOP, Buffer.from([0, 0]))
  for (const size of [0, 1, 4096, 4097, 300_000, 3_000_000]) {
    const bytes = Buffer.alloc(size, size % 251)
    answers(t, (await ask(storage, put(bytes), get())).bytes, OK, value(bytes))
  }
  const [one, two] = [Buffer.from('one'), Buffer.from('two')]
  answers(t, (await ask(storage, put(one), put(two, 0), get())).bytes, OK, NOOP, value(one))
  answers(t, (await ask(storage, put(two), get(), EXISTS)).bytes, OK, value(two), Buffer.from([0, 1]))
  answers(t, (await ask(storage, REMOVE, get(Buffer.from([1])))).bytes, NOOP, NOOP)
  const { how, bytes } = await ask(storage, INFO, STOP, get())
  t.equal(how, 'stopped')
  answers(t, bytes, Buffer.from('\x08helper 1\x00'), OK)
})

t.test('a caller without the permission is told why, and the value is skipped', async (t) => {
  const { port } = await startGuarded(t, { access: [{ anonymous: true, may: ['read_cas', 'read_ac'] }] })
  const { storage } = await connected(t, port)
  const { bytes } = await ask(storage, put(Buffer.from('value')), get())
  t.equal(bytes[GREETING.length], 2)
  t.match(bytes.toString(), /write_/)
  t.ok(bytes.subarray(-1).equals(NOOP), 'the next request is answered')
})

t.test('a server that is away is not asked again for a while, and then used again', async (t) => {
  const first = await startGuarded(t, ANYBODY)
  const { storage, clock } = await connected(t, first.port)
  answers(t, (await ask(storage, put(OK), get())).bytes, OK, value(OK))
  await first.close()
  const away = await ask(storage, get())
  t.equal(away.bytes[GREETING.length], 2, 'an error')
  t.ok((away.bytes[GREETING.length + 1] ?? 0) > 10, 'with a text')
  const second = await startGuarded(t, ANYBODY, { socket_address: `127.0.0.1:${first.port}` })
  t.equal(second.port, first.port)
  t.same((await ask(storage, get())).bytes, away.bytes, 'the same answer, without a question')
  clock.advance(60_000)
  await until(async () => {
    // The connection may wait before it tries again.
    const { bytes } = await ask(storage, put(OK), get())
    clock.advance(60_000)
    return bytes[GREETING.length] === 0
  }, 'the server that is back')
  answers(t, (await ask(storage, get())).bytes, value(OK))
})

t.test('a helper that cannot work says why to every request', async (t) => {
  const parts = { identity: 'helper', clock: new ManualClock(), hide: (text: string) => text.replace('hidden', '***') }
  const storage = new CcacheStorage({ ...parts, entries: new Error(`no token: hidden ${'ä'.repeat(300)}`) })
  const { bytes } = await ask(storage, get(), put(Buffer.alloc(99)), INFO)
  const text = Buffer.from(`no token: *** ${'ä'.repeat(120)}`)
  t.equal(text.length, 254)
  const error = Buffer.concat([Buffer.from([2, 254]), text])
  answers(t, bytes, error, error, Buffer.from('\x06helper\x01'), error.subarray(1))
})

t.test('a client that goes away takes its request with it', async (t) => {
  const { port } = await startGuarded(t, ANYBODY)
  const { storage } = await connected(t, port)
  const gone = new AbortController()
  const input = new PassThrough()
  const serving = storage.serve({ input, write: async () => {}, signal: gone.signal }, () => {
    input.destroy()
    gone.abort()
    return () => {}
  })
  input.write(put(Buffer.alloc(1000)).subarray(0, 500))
  await t.rejects(serving)
  answers(t, (await ask(storage, get())).bytes, NOOP)
})
