import t from 'tap'
import { missingOf, putBytes, type Store } from '../../../../src/blobs/store.js'
import { DirectoryTrees } from '../../../../src/content/directory-trees.js'
import { codec } from '../../../../src/proto/codec.js'
import type { ActionResultInput } from '../../../../src/proto/generated/build.bazel.remote.execution.v2.js'
import { withCompleteness } from '../../../../src/store/kinds/completeness_checking/checking-store.js'
import { completenessChecking } from '../../../../src/store/kinds/completeness_checking/kind.js'
import { asKeyed } from '../../../../src/store/view/keyed.js'
import { bytesOf, call, digestOf, get, isPresent } from '../../blobs.js'
import { buildStore, given, memoryStore } from '../../build.js'
import { rejects } from '../../suite.js'
import { Watched } from '../../watched.js'

const resultCodec = codec('build.bazel.remote.execution.v2.ActionResult')
const treeCodec = codec('build.bazel.remote.execution.v2.Tree')

const setUp = async () => {
  const cas = new Watched(await memoryStore())
  const backend = await memoryStore()
  const options = { backend: given, cas_store: given }
  const store = await buildStore(completenessChecking, options, { children: { backend, cas_store: cas } })
  const keep = async (bytes: Buffer): Promise<ReturnType<typeof digestOf>> => {
    await putBytes(cas, digestOf(bytes), bytes, call)
    return digestOf(bytes)
  }
  return { cas, backend, store, keep }
}

const action = digestOf(Buffer.from('an action')).asKey()
const encode = (result: ActionResultInput): Buffer => resultCodec.encode(result)
const putResult = (store: Store, result: ActionResultInput): Promise<void> =>
  putBytes(store, action, encode(result), call)

t.test('a result is present while every blob it refers to is', async (t) => {
  const { cas, store, keep } = await setUp()
  const [file, stdout, inTree] = [
    await keep(bytesOf(10, 'file')),
    await keep(bytesOf(10, 'out')),
    await keep(bytesOf(10, 'tree')),
  ]
  const empty = digestOf(Buffer.alloc(0))
  const tree = await keep(treeCodec.encode({ root: { files: [{ name: 'f', digest: inTree }] } }))
  const result = {
    outputFiles: [
      { path: 'f', digest: file },
      { path: 'empty', digest: empty },
    ],
    stdoutDigest: stdout,
    outputDirectories: [{ path: 'd', treeDigest: tree }],
  }
  await putResult(store, result)
  t.ok((await get(store, action)).equals(encode(result)))
  t.ok((await get(store, action, { offset: 1, limit: 2 })).equals(encode(result).subarray(1, 3)))
  t.ok(await isPresent(store, action))
  for (const gone of [file, stdout, inTree, tree]) {
    const bytes = await get(cas, gone)
    await cas.remove(gone, 'unwanted', call)
    await rejects(t, get(store, action), 'NOT_FOUND')
    t.notOk(await isPresent(store, action))
    await putBytes(cas, gone, bytes, call)
    t.ok((await get(store, action)).equals(encode(result)), 'and again once it is back')
  }
  const other = digestOf(Buffer.from('another action'))
  t.same((await missingOf(store, [action, other], call)).map(String), [other.key])
})

t.test('a result that is asked for repeatedly is decoded again after it was replaced', async (t) => {
  const { cas, backend, store, keep } = await setUp()
  const [first, second] = [await keep(bytesOf(10, 'first')), await keep(bytesOf(10, 'other'))]
  const result = (digest: typeof first) => ({ outputFiles: [{ path: 'f', digest }] })
  await putResult(store, result(first))
  for (let times = 0; times < 3; times++) t.ok((await get(store, action)).equals(encode(result(first))))
  await putResult(backend, result(second))
  t.ok((await get(store, action)).equals(encode(result(second))))
  t.same(cas.questions.at(-1), [second.key])
  await cas.remove(second, 'unwanted', call)
  await rejects(t, get(store, action), 'NOT_FOUND')
})

t.test('an entry that is not a result is dropped', async (t) => {
  const { store, backend } = await setUp()
  await putBytes(backend, action, Buffer.from('\xff\xff no result'), call)
  await rejects(t, get(store, action), 'NOT_FOUND')
  t.notOk(await isPresent(backend, action))
})

t.test('a CAS that does not answer is not a miss', async (t) => {
  const { store, cas, keep } = await setUp()
  const file = await keep(bytesOf(10))
  await putResult(store, { outputFiles: [{ path: 'f', digest: file }] })
  Object.assign(cas, { findMissing: () => Promise.reject(new Error('the disk is gone')) })
  await t.rejects(get(store, action), { message: 'the disk is gone' })
})

t.test('an action cache that checks already is not checked twice', async (t) => {
  const { store, cas, backend } = await setUp()
  const trees = new DirectoryTrees()
  t.equal(withCompleteness(store, cas, trees), store)
  const plain = asKeyed(backend)
  t.not(withCompleteness(plain, cas, trees), plain)
  t.same(store.properties, { ...backend.properties, checksCompleteness: true })
  t.match(await store.health(call), { state: 'Ok' })
})
