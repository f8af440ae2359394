import { Metadata } from '@grpc/grpc-js'
import t from 'tap'
import { StatusError } from '../../src/base/status-error.js'
import { withoutSecrets } from '../../src/log/secrets.js'
import { GatheredOutput } from '../../src/process/gathered-output.js'
import { processLog } from '../../src/process/process-log.js'
import { codec } from '../../src/proto/codec.js'
import { collect, TestClient } from '../server/client.js'
import { buildAction, EXECUTION } from '../service/execution-harness.js'
import { blobOf, CAS, wire } from '../service/harness.js'
import { until } from '../until.js'
import { DEFAULT, serve } from './program.js'

const requestMetadataCodec = codec('build.bazel.remote.execution.v2.RequestMetadata')

const lines = (env: NodeJS.ProcessEnv, isTTY: boolean) => {
  const written: string[] = []
  const output = new GatheredOutput({ isTTY, write: (text) => written.push(text) })
  return { log: processLog('info', env, output), written, output }
}

t.test('the log is text on a terminal and JSON otherwise, unless configured', async (t) => {
  const said = (env: NodeJS.ProcessEnv, isTTY: boolean): string => {
    const { log, written } = lines(env, isTTY)
    log.warn('a thing happened', { store: 'CAS', count: 2 })
    return written.join('')
  }
  t.match(said({}, true), / warn {2}a thing happened store=CAS count=2\n$/)
  t.match(JSON.parse(said({}, false)), { level: 'warn', msg: 'a thing happened', store: 'CAS', count: 2 })
  t.match(JSON.parse(said({ REMEXEC_LOG_FORMAT: 'json' }, true)).time, /^\d{4}-\d\d-\d\dT.*Z$/)
  t.match(said({ REMEXEC_LOG_FORMAT: 'TEXT' }, false), /^\d{4}-/)
})

t.test('the level of the environment takes precedence, and an unknown one is refused', async (t) => {
  const { log, written } = lines({ REMEXEC_LOG_LEVEL: 'error' }, false)
  log.warn('unheard')
  log.error('heard', { error: new StatusError('DATA_LOSS', 'torn', { cause: new Error('the disk') }) })
  t.equal(written.length, 1)
  const { msg, error } = JSON.parse(written[0] ?? '')
  t.match([msg, error.message, error.cause.message], ['heard', /torn/, 'the disk'])
  t.throws(() => lines({ REMEXEC_LOG_LEVEL: 'loud' }, false), {
    message: 'REMEXEC_LOG_LEVEL is "loud", expected debug, info, warn, error',
  })
  let isAsked = false
  log.debug('unheard', () => {
    isAsked = true
    return {}
  })
  t.notOk(isAsked, 'what is not written is not found out')
})

t.test('secrets from any source are not written', async (t) => {
  for (const format of ['text', 'json']) {
    const { log, written, output } = lines({ REMEXEC_LOG_FORMAT: format }, false)
    log.warn('cannot reach redis://user:hunter2@cache:6379', { reason: 'GET https://key:hunter2@s3/ failed' })
    log.error('no', { error: new Error('authorization: Bearer hunter2 was refused'), url: 'mongodb+srv://u:hunter2@h' })
    log.info('sent', { header: 'Authorization=Basic%20hunter2,x=1' })
    const asked = { path: '/', options: { token: 'hunter2', tries: [{ cookie: 'hunter2' }, { waits: [1] }] } }
    log.info('set', { password: 'hunter2', asked })
    const refusal = Object.assign(new Error('refused'), { headers: { 'x-key': 'hunter2' } })
    log.error('refused', { error: new StatusError('INTERNAL', 'no', { cause: refusal }), thrown: 'a word' })
    output.flush()
    t.notMatch(written.join(''), /hunter2/)
    t.match(written[0], /redis:\/\/\*\*\*@cache:6379/)
    t.match(written.join(''), /"path":"\/","options":{"token":"\(hidden\)"/, 'the rest is there')
    t.match(written.join(''), /"waits":\[1\]/)
    t.same(asked.options.tries[0], { cookie: 'hunter2' }, 'what is said is left as it is')
  }
  t.equal(withoutSecrets('grpc://127.0.0.1:50051 and a@b'), 'grpc://127.0.0.1:50051 and a@b')
})

t.test(
  'a line is written at the end of its turn, later ones together, warnings immediately, and the rest at the end of the process',
  async (t) => {
    const { log, written, output } = lines({}, false)
    const said = (): string[] => written.splice(0).map((text) => text.match(/"msg":"[^"]*"/g)?.join(' ') ?? '')
    log.info('one')
    log.info('two')
    t.same(said(), [])
    await new Promise(setImmediate)
    t.same(said(), ['"msg":"one" "msg":"two"'])
    log.info('three')
    log.warn('four')
    t.same(said(), ['"msg":"three" "msg":"four"'], 'in their order')
    log.info('five')
    output.flush()
    t.same(said(), ['"msg":"five"'])
    await new Promise(setImmediate)
    t.same(said(), [], 'once')
  },
)

t.test('many lines take few writes, and each line is written without waiting for the next', async (t) => {
  const { log, written } = lines({}, false)
  const alive = setInterval(() => {}, 1000)
  t.teardown(() => clearInterval(alive))
  for (let at = 0; at < 200; at++) {
    log.info(`line ${at}`)
    await new Promise(setImmediate)
  }
  t.ok(written.length < 20, `${written.length} writes`)
  await until(() => written.join('').includes('"line 199"'))
  const numbers = [...written.join('').matchAll(/"msg":"line (\d+)"/g)].map(([, number]) => Number(number))
  t.same(
    numbers,
    Array.from({ length: 200 }, (_, at) => at),
  )
  written.length = 0
  log.info('x'.repeat(100_000))
  t.equal(written.length, 1, 'what is much is written at once')
})

t.test('the log lines of client, scheduler and worker share one id', async (t) => {
  const env = { REMEXEC_LOG_FORMAT: 'json', REMEXEC_LOG_LEVEL: 'debug' }
  const server = serve(t, DEFAULT, t.testdir(), env)
  const [, address = ''] = await server.hears(/serving grpc:\/\/([^"]+)"/)
  await server.hears(/"a worker connected"/)
  const client = new TestClient(address)
  t.teardown(() => client.close())
  const built = buildAction({ command: { arguments: ['/bin/sh', '-c', 'exit 3'] } })
  const requests = [built.action, built.command, built.root].map(({ digest, bytes }) => ({
    digest: wire(digest),
    data: bytes,
  }))
  await client.unary(`${CAS}/BatchUpdateBlobs`, { instanceName: 'x', requests }).response
  const asked = { instanceName: 'x', actionDigest: wire(built.digest) }
  const { messages } = await collect(client.serverStream(`${EXECUTION}/Execute`, asked))
  const [id = ''] = /[^/]+$/.exec(messages[0].name) ?? []
  await server.hears(new RegExp(`"method":"/${EXECUTION}/Execute".*${id}`))
  const heard = server
    .said()
    .split('\n')
    .filter((line) => line.includes(id))
    .map((line) => JSON.parse(line))
  t.match(
    heard.find(({ msg }) => msg === 'an attempt has begun'),
    { attempt: `${id}-1`, digest: built.digest.key },
  )
  t.match(
    heard.find(({ msg }) => msg === 'an action was given to a worker'),
    { attempt: `${id}-1` },
  )
  t.match(
    heard.find(({ msg }) => msg === 'call'),
    {
      ...{ code: 'OK', instance: 'x', digest: `${built.digest.hash}/${built.digest.sizeBytes}` },
      operation: messages[0].name,
    },
  )
  t.ok(heard.find(({ msg }) => msg === 'call').receivedBytes > 0)
})

t.test(
  'the log says what became of each action: at info when it failed for another reason than its command',
  async (t) => {
    const server = serve(t, DEFAULT, t.testdir(), { REMEXEC_LOG_FORMAT: 'json', REMEXEC_LOG_LEVEL: 'debug' })
    const [, address = ''] = await server.hears(/serving grpc:\/\/([^"]+)"/)
    await server.hears(/"a worker connected"/)
    const client = new TestClient(address)
    t.teardown(() => client.close())
    const ids = { toolInvocationId: 'build-7', targetId: '//app:it', actionMnemonic: 'Genrule' }
    const metadata = new Metadata()
    metadata.set('build.bazel.remote.execution.v2.requestmetadata-bin', requestMetadataCodec.encode(ids))
    const endOf = async (command: string, action: object = {}): Promise<Record<string, unknown>> => {
      const built = buildAction({ command: { arguments: ['/bin/sh', '-c', command] }, action })
      const requests = [built.action, built.command, built.root].map(({ digest, bytes: data }) => ({
        digest: wire(digest),
        data,
      }))
      await client.unary(`${CAS}/BatchUpdateBlobs`, { instanceName: 'x', requests }).response
      const asked = { instanceName: 'x', actionDigest: wire(built.digest) }
      await collect(client.serverStream(`${EXECUTION}/Execute`, asked, { metadata }))
      const [line] = await server.hears(new RegExp(`^.*"action":"${built.digest.key}".*"an action ended".*$`, 'm'))
      return JSON.parse(line)
    }
    const about = { instance: 'x', target: '//app:it', mnemonic: 'Genrule', invocation: 'build-7', attempts: 1 }
    const ended = await endOf('exit 3')
    t.match(ended, { level: 'debug', result: 'failure', exitCode: 3, worker: /^worker_0/, ...about })
    for (const time of ['ms', 'queueMs', 'fetchMs', 'runMs', 'uploadMs']) t.type(ended[time], 'number', time)
    t.match(await endOf('true'), { level: 'debug', result: 'success', exitCode: 0 })
    t.match(await endOf('sleep 60', { timeout: { seconds: 1 } }), {
      ...{ level: 'info', result: 'timeout', code: 'DEADLINE_EXCEEDED', reason: /execution timeout exceeded/ },
      ...about,
    })
  },
)

t.test('the log line of a call names its instance and blob, also for streamed requests', async (t) => {
  const env = { REMEXEC_LOG_FORMAT: 'json', REMEXEC_LOG_LEVEL: 'debug' }
  const server = serve(t, DEFAULT, t.testdir(), env)
  const [, address = ''] = await server.hears(/serving grpc:\/\/([^"]+)"/)
  const client = new TestClient(address)
  t.teardown(() => client.close())
  const { digest, bytes } = blobOf('streamed')
  const name = `${digest.hash}/${digest.sizeBytes}`
  const { call, response } = client.clientStream('google.bytestream.ByteStream/Write')
  call.end({ resourceName: `x/uploads/1234/blobs/${name}`, data: bytes, finishWrite: true })
  await response
  await collect(client.serverStream('google.bytestream.ByteStream/Read', { resourceName: `x/blobs/${name}` }))
  const asked = { instanceName: 'x', blobDigests: [wire(digest), wire(blobOf('other').digest)] }
  await client.unary(`${CAS}/FindMissingBlobs`, asked).response
  const lineOf = async (method: string) => {
    await server.hears(new RegExp(`"method":"[^"]*/${method}"`))
    const lines = server.said().split('\n')
    return JSON.parse(lines.find((line) => line.includes(`/${method}"`)) ?? '')
  }
  t.match(await lineOf('Write'), { code: 'OK', instance: 'x', resource: `x/uploads/1234/blobs/${name}` })
  t.match(await lineOf('Read'), { code: 'OK', instance: 'x', resource: `x/blobs/${name}` })
  t.match(await lineOf('FindMissingBlobs'), { code: 'OK', instance: 'x', blobs: 2, digest: digest.hash })
})
