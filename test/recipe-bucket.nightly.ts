/** The recipe `bucket` with a real S3 server and a real Redis: two servers share what they have. */
// For changes in: deploy/recipes/bucket, src/store/kinds/fast_slow, src/store/objects, src/store/kinds/redis_store

import { readFileSync, writeFileSync } from 'node:fs'
import t, { type Test } from 'tap'
import { root, serve } from './cli/program.js'
import { TestClient } from './server/client.js'
import { AC, blobOf, CAS, wire } from './service/harness.js'
import { S3_KEYS, startS3, withoutS3 } from './store/kinds/experimental_cloud_object_store/s3-server.js'
import { keysAt, startRedis, withoutRedis } from './store/kinds/redis_store/redis.js'
import { untilSo } from './until.js'

const recipe = readFileSync(`${root}deploy/recipes/bucket/remexec.json5`, 'utf8')

const start = async (t: Test, name: string, folder: string, env: NodeJS.ProcessEnv) => {
  const path = `${folder}/${name}.json5`
  writeFileSync(path, recipe)
  const server = serve(t, path, `${folder}/${name}`, {
    ...{ REMEXEC_HOST: '127.0.0.1', REMEXEC_CAS_SIZE: '10gb', REMEXEC_QUEUE_SIZE: '1gb' },
    ...{ AWS_ACCESS_KEY_ID: S3_KEYS.accessKeyId, AWS_SECRET_ACCESS_KEY: S3_KEYS.secretAccessKey },
    ...{ REMEXEC_REGION: 'us-east-1', REMEXEC_BUCKET: 'builds', ...env },
  })
  const [, address = ''] = await server.hears(/serving grpc:\/\/(\S+) server=public/)
  const client = new TestClient(address)
  t.teardown(() => client.close())
  const status = async () => (await fetch(`http://${address}/status`)).text()
  const untilDrained = () => untilSo(async () => (await status()).match(/nothing waits/g)?.length === 2)
  return { server, client, untilDrained }
}

t.test(
  'what one server acknowledged during an outage, another finds after it',
  { skip: withoutS3 || withoutRedis },
  async (t) => {
    const folder = t.testdir({ one: {}, two: {} })
    const [s3, redis] = [await startS3(t), await startRedis(t)]
    const env = {
      REMEXEC_ENDPOINT: `http://127.0.0.1:${s3.port}`,
      REMEXEC_ALLOW_HTTP: 'true',
      REMEXEC_REDIS: redis.address,
    }
    const one = await start(t, 'one', folder, env)
    const two = await start(t, 'two', folder, env)
    const put = async (text: string) => {
      const { bytes, digest } = blobOf(Buffer.from(text))
      const requests = [{ digest: wire(digest), data: bytes }]
      const { responses } = await one.client.unary(`${CAS}/BatchUpdateBlobs`, { requests }).response
      t.same(responses[0].status?.code ?? 0, 0)
      const actionResult = { outputFiles: [{ path: 'out', digest: wire(digest) }] }
      await one.client.unary(`${AC}/UpdateActionResult`, { actionDigest: wire(digest), actionResult }).response
      return digest
    }
    const isHit = async ({ client }: typeof one, digest: Awaited<ReturnType<typeof put>>) =>
      client.unary(`${AC}/GetActionResult`, { actionDigest: wire(digest) }).response.then(
        () => true,
        () => false,
      )
    const before = await put('before the outage')
    await one.untilDrained()
    t.ok(await isHit(two, before), 'the other server has it')
    t.equal((await s3.objects()).length, 1)
    // A result, and who wrote it.
    const keysOfOne = (await keysAt(redis.port)).length

    await s3.kill()
    const during = await put('during the outage')
    t.ok(await isHit(one, during), 'a hit where it was uploaded')
    t.equal((await keysAt(redis.port)).length, keysOfOne, 'the result is not in Redis before its blob is in the bucket')
    t.notOk(await isHit(two, during))
    await s3.restart()
    await one.untilDrained()
    t.equal((await keysAt(redis.port)).length, 2 * keysOfOne)
    await untilSo(() => isHit(two, during))
    t.pass('and after the outage everywhere')
  },
)
