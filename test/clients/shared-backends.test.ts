import t from 'tap'
import { getBytes, putBytes } from '../../src/blobs/store.js'
import { codec } from '../../src/proto/codec.js'
import { bytesOf, call, digestOf, get, isPresent, put } from '../store/blobs.js'
import { endpoint, openGrpcStore, startRemexec } from '../store/kinds/grpc/remexec.js'
import { startRedis, withoutRedis } from '../store/kinds/redis_store/redis.js'

const skip = withoutRedis

void t.test(
  'two servers that share a Redis see each other, and keep serving when it is killed',
  { skip },
  async (t) => {
    const redis = await startRedis(t)
    const shared = (key_prefix: string) => ({ redis_store: { addresses: [redis.address], key_prefix } })
    const stores = {
      CAS: { fast_slow: { fast: { memory: { eviction_policy: { max_bytes: '100mb' } } }, slow: shared('cas:') } },
      AC: shared('ac:'),
    }
    const [one, two] = [await startRemexec(t, { stores }), await startRemexec(t, { stores })]
    const storeOf = async (port: number, store_type: 'cas' | 'ac') =>
      (await openGrpcStore(t, { endpoints: [endpoint(port)], store_type })).store
    const [oneCas, twoCas] = [await storeOf(one.port, 'cas'), await storeOf(two.port, 'cas')]
    const [oneAc, twoAc] = [await storeOf(one.port, 'ac'), await storeOf(two.port, 'ac')]
    for (const sizeBytes of [100, 3_000_000]) {
      const bytes = bytesOf(sizeBytes)
      await put(oneCas, digestOf(bytes), bytes)
      t.ok(await isPresent(twoCas, digestOf(bytes)))
      t.ok((await get(twoCas, digestOf(bytes))).equals(bytes), `${sizeBytes} bytes`)
    }
    const results = codec('build.bazel.remote.execution.v2.ActionResult')
    const action = digestOf(Buffer.from('an action')).asKey()
    await putBytes(twoAc, action, results.encode({ exitCode: 0, stdoutRaw: Buffer.from('said') }), call)
    const found = results.decode(await getBytes(oneAc, action, 1_000_000, call))
    t.equal(found.stdoutRaw.toString(), 'said')
    await redis.kill()
    const held = bytesOf(100)
    t.ok((await get(twoCas, digestOf(held))).equals(held), 'what the memory in front has is still served')
    await t.rejects(getBytes(oneAc, action, 1_000_000, call), { code: 14 })
  },
)
