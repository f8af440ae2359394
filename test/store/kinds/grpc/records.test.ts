import t, { type Test } from 'tap'
import { getBytes, missingOf, putBytes } from '../../../../src/blobs/store.js'
import { encodeRecord } from '../../../../src/content/own-record.js'
import { codec } from '../../../../src/proto/codec.js'
import { Digest } from '../../../../src/reapi/digest.js'
import { digestFunctions } from '../../../../src/reapi/digest-function.js'
import { asCas } from '../../../../src/store/view/cas.js'
import { WHOLE } from '../../../../src/stream/path.js'
import { serve } from '../../../service/harness.js'
import { call } from '../../blobs.js'
import { memoryStore } from '../../build.js'
import { rejects } from '../../suite.js'
import { endpoint, openGrpcStore } from './remexec.js'

const resultCodec = codec('build.bazel.remote.execution.v2.ActionResult')
const SECRET = '0123456789abcdef0123456789abcdef'
const key = Digest.ofOwn('HTTP_ENTRY', 'main\0/files\0some/key')

const served = async (t: Test) => {
  const [cas, ac] = [asCas(await memoryStore()), await memoryStore()]
  const { listener } = await serve(t, { transport: 'remexec', instances: { main: { cas, ac } } })
  const port = Number(listener.address.split(':').at(-1))
  const open = async (record_secret?: string) => {
    const options = { store_type: 'ac', endpoints: [endpoint(port)], ...(record_secret && { record_secret }) } as const
    return (await openGrpcStore(t, options)).store
  }
  return { open, ac }
}

t.test(
  'records in the action cache of another server are found with the secret, and have the blobs of a result',
  async (t) => {
    const { open } = await served(t)
    const [one, other, stranger] = [await open(SECRET), await open(SECRET), await open(`${SECRET}!`)]
    const record = encodeRecord(key, { content: Buffer.from('body') })
    t.equal((await missingOf(one, [key], call)).length, 1)
    await putBytes(one, key, record, call)
    t.ok((await getBytes(other, key, 1000, call)).equals(record))
    t.equal((await missingOf(other, [key], call)).length, 0)
    await rejects(t, getBytes(stranger, key, 1000, call), 'NOT_FOUND')
  },
)

t.test('a client of the other server does not write a record that is believed, though it saw one', async (t) => {
  const { open } = await served(t)
  const store = await open(SECRET)
  const other = Digest.ofOwn('HTTP_ENTRY', 'main\0/files\0other/key')
  for (const [of, text] of [
    [key, 'body'],
    [other, 'another'],
  ] as const)
    await putBytes(store, of, encodeRecord(of, { content: Buffer.from(text) }), call)
  const seen: Buffer[] = []
  const { SealedRecords } = await import('../../../../src/store/kinds/grpc/sealed-records.js')
  const records = new SealedRecords(SECRET)
  const plain = await open()
  for (const of of [key, other]) seen.push(await getBytes(plain, records.actionOf(of).asKey(), 10_000, call))
  const forged = resultCodec.decode(seen[0] as Buffer)
  const [sealed] = forged.executionMetadata?.auxiliaryMetadata ?? []
  if (sealed === undefined) throw new Error('there is no record')
  sealed.value = Buffer.concat([sealed.value.subarray(0, -1), Buffer.from([(sealed.value.at(-1) ?? 0) ^ 1])])
  for (const bytes of [
    seen[1] as Buffer,
    resultCodec.encode(forged),
    resultCodec.encode({ stdoutRaw: Buffer.from('x') }),
  ]) {
    await putBytes(plain, records.actionOf(key).asKey(), bytes, call)
    await rejects(t, store.get(key, WHOLE, call), 'NOT_FOUND')
  }
})

t.test('without a secret there are no records in another server', async (t) => {
  const { open } = await served(t)
  const store = await open()
  await rejects(t, putBytes(store, key, encodeRecord(key, {}), call), 'FAILED_PRECONDITION')
  const action = Digest.of(Buffer.from('an action'), digestFunctions.SHA256).asKey()
  await putBytes(store, action, resultCodec.encode({ exitCode: 1 }), call)
  t.equal(resultCodec.decode(await getBytes(store, action, 1000, call)).exitCode, 1)
})
