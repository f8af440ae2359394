import { createHash } from 'node:crypto'
import { existsSync, writeFileSync } from 'node:fs'
import t, { type Test } from 'tap'
import { ManualClock } from '../../../src/base/clock.js'
import { unpack } from '../../../src/proto/any.js'
import { codec } from '../../../src/proto/codec.js'
import { PatientClient } from '../../chaos/client.js'
import { TestClient } from '../../server/client.js'
import { buildAction, EXECUTION, ExecutionStage, FakeWorker, Reader, stageOf } from '../../service/execution-harness.js'
import { wire } from '../../service/harness.js'
import { S3_KEYS, startS3, withoutS3 } from '../../store/kinds/experimental_cloud_object_store/s3-server.js'
import { ask, withoutRedis } from '../../store/kinds/redis_store/redis.js'
import { until } from '../../until.js'
import { QueueOfServers, type QueueOptions } from './queue-of-servers.js'

const skip = withoutRedis
const hashOf = (text: string): string => createHash('sha256').update(text).digest('hex')
const operationMetadata = codec('build.bazel.remote.execution.v2.ExecuteOperationMetadata')
const printing = (text: string, before = '') =>
  buildAction({
    command: {
      arguments: ['sh', '-c', `${before} echo ${text}`],
      environmentVariables: [{ name: 'PATH', value: '/usr/bin:/bin' }],
    },
  })

t.test(
  'an action through a server that follows runs at a worker of another, and each server knows it',
  { skip },
  async (t) => {
    const queue = await QueueOfServers.start(t, 2)
    queue.point(queue.follower())
    const worker = queue.worker('one')
    await worker.hears(/connected to the scheduler/)
    const client = new PatientClient(queue.address)
    t.teardown(() => client.close())
    const built = printing('hello')
    await client.upload(built)
    const { result } = await client.run(built)
    t.equal(result?.stdoutDigest?.hash, hashOf('hello\n'))
    t.same(client.failures, [])
  },
)

t.test('what an action prints while it runs can be read at every server', { skip }, async (t) => {
  const queue = await QueueOfServers.start(t, 2)
  queue.point(queue.follower())
  await queue.worker('one').hears(/connected to the scheduler/)
  const client = new PatientClient(queue.address)
  t.teardown(() => client.close())
  const gate = `${t.testdir()}/gate`
  const built = printing('late', `echo early; while [ ! -e ${gate} ]; do sleep 0.1; done;`)
  await client.upload(built)
  const asking = new TestClient(queue.address)
  const operations = new Reader<Parameters<typeof stageOf>[0]>(
    asking.serverStream(`${EXECUTION}/Execute`, { actionDigest: wire(built.digest) }),
  )
  const running = await operations.until((operation) => stageOf(operation) === ExecutionStage.EXECUTING)
  const { stdoutStreamName } = unpack(operationMetadata, running.metadata ?? { typeUrl: '', value: Buffer.alloc(0) })
  t.match(stdoutStreamName, /^logstreams\/MAIN\//)
  const readers = queue.servers.map(({ port }) => {
    const reading = new TestClient(`127.0.0.1:${port}`)
    t.teardown(() => reading.close())
    const parts = reading.serverStream('google.bytestream.ByteStream/Read', { resourceName: stdoutStreamName })
    return new Reader<{ data: Buffer }>(parts)
  })
  for (const reader of readers) t.equal((await reader.next()).data.toString(), 'early\n')
  writeFileSync(gate, '')
  for (const reader of readers) t.equal((await reader.next()).data.toString(), 'late\n')
  await operations.rest()
  asking.close()
})

t.test(
  'the leader is killed while actions run and wait: another leads, and clients of the rest notice a pause',
  { skip },
  async (t) => {
    const queue = await QueueOfServers.start(t, 2)
    const follower = queue.follower()
    queue.point(follower)
    const worker = queue.worker('one')
    await worker.hears(/connected to the scheduler/)
    const client = new PatientClient(queue.address)
    t.teardown(() => client.close())
    const gate = `${t.testdir()}/gate`
    const actions = Array.from({ length: 12 }, (_, at) =>
      printing(`a${at}`, `while [ ! -e ${gate} ]; do sleep 0.1; done;`),
    )
    for (const built of actions) await client.upload(built)
    const running = Promise.all(actions.map((built) => client.run(built)))
    const leader = queue.leader()
    t.ok(leader)
    leader?.process.child.kill('SIGKILL')
    await until(() => queue.term(follower) > 0, 'another leader')
    writeFileSync(gate, '')
    const responses = await running
    t.same(
      responses.map(({ result }) => result?.stdoutDigest?.hash),
      actions.map((_, at) => hashOf(`a${at}\n`)),
    )
    t.same([client.failures, client.counts.forgotten], [[], 0])
    t.equal(client.counts.executes, actions.length, 'no client had to ask again')
  },
)

t.test(
  'the leader is killed that clients are at: they find what runs for them at the next one, also before its worker has come',
  { skip },
  async (t) => {
    const queue = await QueueOfServers.start(t, 2)
    const [leader, follower] = [queue.leader(), queue.follower()]
    if (leader === undefined) throw new Error('nobody leads')
    queue.point(leader)
    const worker = queue.worker('one')
    await worker.hears(/connected to the scheduler/)
    const client = new PatientClient(queue.address)
    t.teardown(() => client.close())
    const gate = `${t.testdir()}/gate`
    // As many as the worker has slots.
    const names = Array.from({ length: 4 }, (_, at) => `a${at}`)
    const actions = names.map((name) =>
      printing(name, `: > ${gate}.${name}; while [ ! -e ${gate} ]; do sleep 0.1; done;`),
    )
    for (const built of actions) await client.upload(built)
    const running = Promise.all(actions.map((built) => client.run(built)))
    await until(() => names.every((name) => existsSync(`${gate}.${name}`)), 'actions that run')
    queue.point(follower)
    leader.process.child.kill('SIGKILL')
    await until(() => queue.term(follower) > 0, 'another leader')
    await until(() => client.counts.found === names.length, 'their operations')
    writeFileSync(gate, '')
    await running
    t.same([client.failures, client.counts.forgotten, client.counts.executes], [[], 0, names.length])
  },
)

/** A queue whose clients and workers use a server that follows, with actions that run until the gate opens. */
const busyQueue = async (t: Test, options: QueueOptions = {}) => {
  const queue = await QueueOfServers.start(t, 2, options)
  const [leader, follower] = [queue.leader() ?? queue.follower(), queue.follower()]
  queue.point(follower)
  const worker = queue.worker('one')
  await worker.hears(/connected to the scheduler/)
  const client = new PatientClient(queue.address)
  t.teardown(() => client.close())
  const gate = `${t.testdir()}/gate`
  const names = Array.from({ length: 8 }, (_, at) => `a${at}`)
  const actions = names.map((name) => printing(name, `: > ${gate}.begun; while [ ! -e ${gate} ]; do sleep 0.1; done;`))
  for (const built of actions) await client.upload(built)
  const running = Promise.all(actions.map((built) => client.run(built)))
  await until(() => existsSync(`${gate}.begun`), 'an action that runs')
  /** All end once, and no client had to ask again. */
  const allEnd = async (): Promise<void> => {
    writeFileSync(gate, '')
    const responses = await running
    t.same(
      responses.map(({ result }) => result?.stdoutDigest?.hash),
      names.map((name) => hashOf(`${name}\n`)),
    )
    t.same([client.failures, client.counts.forgotten, client.counts.executes], [[], 0, actions.length])
  }
  return { queue, leader, follower, worker, client, allEnd }
}

t.test('a leader that is paused beyond its lease comes back without any say', { skip }, async (t) => {
  const { queue, leader, follower, allEnd } = await busyQueue(t)
  leader.process.child.kill('SIGSTOP')
  await until(() => queue.term(follower) > 0, 'another leader')
  leader.process.child.kill('SIGCONT')
  await leader.process.hears(/another server leads/)
  await allEnd()
})

t.test(
  'without Redis: servers elect by an object of S3, and the leader is killed',
  { skip: skip || withoutS3 },
  async (t) => {
    const { port, bucket, objects } = await startS3(t)
    const env = { AWS_ACCESS_KEY_ID: S3_KEYS.accessKeyId, AWS_SECRET_ACCESS_KEY: S3_KEYS.secretAccessKey }
    const options = {
      ...{ provider: 'aws', bucket, region: 'us-east-1', endpoint: `http://127.0.0.1:${port}`, key_prefix: 'q/' },
      insecure_allow_http: true,
    }
    const locks = JSON.stringify({ experimental_cloud_object_store: options })
    const engine = { locks, backend: `{ object: { object_store: 'LOCKS' } }` }
    const { queue, leader, follower, allEnd } = await busyQueue(t, { engine, env, lease: '5' })
    t.same(await objects(), ['lease'], 'what was written to test the bucket is removed')
    leader.process.child.kill('SIGKILL')
    await until(() => queue.term(follower) > 0, 'another leader')
    t.equal(queue.term(follower), 2)
    await allEnd()
  },
)

t.test('a leader that is stopped hands over at once, and its own clients get their results', { skip }, async (t) => {
  const { queue, leader, follower, allEnd } = await busyQueue(t)
  leader.process.child.kill('SIGTERM')
  await until(() => queue.term(follower) > 0, 'another leader')
  t.equal((await leader.process.ended).code, 143, 'the code of SIGTERM')
  await allEnd()
})

t.test('Redis forgets everything: a higher term, and nothing is lost', { skip }, async (t) => {
  const { queue, allEnd } = await busyQueue(t)
  const before = queue.servers.map((server) => queue.term(server))
  await ask(queue.redisPort, 'DEL', ...['lease', 'epoch', 'members', 'secret'].map((key) => `q:remexec:{MAIN}:${key}`))
  const highest = (): number => Math.max(...queue.servers.map((server) => queue.term(server)))
  await until(() => highest() > Math.max(...before), 'a higher term')
  await allEnd()
})

t.test('a worker that claims to know of a higher term, without its key, ends no office', { skip }, async (t) => {
  const queue = await QueueOfServers.start(t, 1)
  const [server] = queue.servers
  const client = new TestClient(`127.0.0.1:${server?.port}`, { 'grpc.use_local_subchannel_pool': 1 })
  t.teardown(() => client.close())
  const claims = { highestEpoch: 1_000_000, termKey: 'made up' }
  for (let tries = 0; tries < 3; tries++) t.ok((await new FakeWorker(client, new ManualClock()).hello(claims)).id)
  t.equal(server && queue.term(server), 1)
})
