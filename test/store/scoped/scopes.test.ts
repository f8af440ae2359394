import t, { type Test } from 'tap'
import { ManualClock } from '../../../src/base/clock.js'
import { getBytes, missingOf, putBytes, type Store } from '../../../src/blobs/store.js'
import { silentLog } from '../../../src/log/log.js'
import { codec } from '../../../src/proto/codec.js'
import { Digest } from '../../../src/reapi/digest.js'
import { digestFunctions } from '../../../src/reapi/digest-function.js'
import { internalCall } from '../../../src/rpc/call.js'
import { Scope } from '../../../src/rpc/scope.js'
import { layered } from '../../../src/store/scoped/layers.js'
import { ResultCache } from '../../../src/store/scoped/result-cache.js'
import { Scopes } from '../../../src/store/scoped/scopes.js'
import { asKeyed } from '../../../src/store/view/keyed.js'
import { memoryStore } from '../../service/harness.js'
import { ContractDouble } from '../double.js'

const resultCodec = codec('build.bazel.remote.execution.v2.ActionResult')
const DAY_MS = 86_400_000
const call = internalCall()
const one = Scope.named('one') as Scope
const two = Scope.named('two') as Scope

const actionOf = (text: string): Digest => Digest.of(Buffer.from(text), digestFunctions.SHA256).asKey()
const resultOf = (text: string): Buffer => resultCodec.encode({ stdoutRaw: Buffer.from(text) })

const read = (store: Store, text: string): Promise<string> =>
  getBytes(store, actionOf(text), 1e6, call).then(
    (bytes) => resultCodec.decode(bytes).stdoutRaw.toString(),
    () => 'none',
  )

const opened = async (store?: Store, limits = {}) => {
  const clock = new ManualClock(1_700_000_000_000)
  const ac = store ?? asKeyed(await memoryStore(clock))
  const options = { limits: { maxBytes: 1e9, maxIdleMs: 10 * DAY_MS, ...limits }, knowsCallers: true }
  const scopes = () => new Scopes(ac, { ...options, clock, log: silentLog })
  return { clock, ac, scopes: scopes(), other: scopes }
}

t.test('what a scope keeps is found by it alone, also by another server over the store', async (t) => {
  const { ac, scopes, other } = await opened()
  await putBytes(scopes.layer(one), actionOf('a'), resultOf('of one'), call)
  t.equal(await read(scopes.layer(one), 'a'), 'of one')
  t.equal(await read(scopes.layer(two), 'a'), 'none')
  t.equal(await read(ac, 'a'), 'none')
  t.equal(await read(other().layer(one), 'a'), 'of one', 'after a restart')
})

t.test('layers are read in order and written at the first', async (t) => {
  const { ac, scopes } = await opened()
  await putBytes(ac, actionOf('shared'), resultOf('shared'), call)
  const both = layered(scopes.layer(one), ac)
  t.equal(await read(both, 'shared'), 'shared')
  t.equal(await both.sizeOf(actionOf('shared'), call), 'shared'.length, 'of an action that is in the second one only')
  await putBytes(both, actionOf('shared'), resultOf('own'), call)
  t.same([await read(both, 'shared'), await read(ac, 'shared')], ['own', 'shared'])
  const asked = ['shared', 'none'].map(actionOf)
  t.same(
    (await missingOf(both, asked, call)).map(({ key }) => key),
    [actionOf('none').key],
  )
  const sizes = await Promise.all(asked.map((digest) => both.sizeOf(digest, call)))
  t.same(sizes, ['shared'.length, undefined], 'of the action')
  await both.remove(actionOf('shared'), 'unwanted', call)
  t.equal(await read(both, 'shared'), 'shared', 'only its own can be removed')
})

t.test('a miss of its own costs a scope no question to the store, and a hit of its own asks only once', async (t) => {
  const near = new ContractDouble({ caller: call })
  const { scopes } = await opened(asKeyed(near))
  await putBytes(asKeyed(near), actionOf('shared'), resultOf('shared'), call)
  const both = layered(scopes.layer(one), asKeyed(near))
  await putBytes(both, actionOf('own'), resultOf('own'), call)
  t.equal(await read(both, 'own'), 'own')
  const asked = async (text: string): Promise<number> => {
    const before = near.calls.get
    await read(both, text)
    return near.calls.get - before
  }
  t.same([await asked('shared'), await asked('own'), await asked('none')], [1, 1, 1])
})

t.test('where a store does not know what it lacks, a hit of its own is still one question', async (t) => {
  const far = new (class extends ContractDouble {
    override lacks(): boolean {
      return false
    }
  })({ caller: call })
  const { scopes } = await opened(asKeyed(far))
  await putBytes(asKeyed(far), actionOf('shared'), resultOf('shared'), call)
  const both = layered(scopes.layer(one), asKeyed(far))
  await putBytes(both, actionOf('own'), resultOf('own'), call)
  const asked = async (text: string): Promise<number> => {
    const before = far.calls.get
    await read(both, text)
    return far.calls.get - before
  }
  await asked('own')
  t.same([await asked('own'), await asked('shared'), await asked('none')], [1, 2, 2])
  t.equal(await read(both, 'shared'), 'shared')
})

t.test('it is told where each read was answered: own, shared, a parent, or nowhere', async (t) => {
  const { ac, scopes } = await opened()
  const parents = await Promise.all(['near', 'far'].map(async () => asKeyed(await memoryStore())))
  const told: string[] = []
  const results = new ResultCache({
    ...{ shared: ac, own: (scope) => scopes.layer(scope), parents },
    onRead: ({ name }, layer) => told.push(`${name} ${layer}`),
  })
  const all = [scopes.layer(one), ac, ...parents]
  for (const [at, store] of all.entries()) await putBytes(store, actionOf(`${at}`), resultOf(`${at}`), call)
  for (const at of [0, 1, 2, 3, 4]) await read(results.of(one), `${at}`)
  await read(results.of(two), '0')
  await read(results.of(undefined), '1')
  t.same(told, ['one own', 'one shared', 'one parent', 'one parent', 'one none', 'two none'])
})

t.test('a scope that is dropped is empty for every server within five seconds, and stays so', async (t) => {
  const { clock, scopes, other } = await opened()
  const second = other()
  await putBytes(scopes.layer(one), actionOf('a'), resultOf('poison'), call)
  t.equal(await read(second.layer(one), 'a'), 'poison')
  await scopes.of('', one).renew()
  t.equal(await read(scopes.layer(one), 'a'), 'none')
  clock.advance(5_001)
  t.equal(await read(second.layer(one), 'a'), 'none')
  t.equal(await read(other().layer(one), 'a'), 'none', 'after a restart')
})

t.test('a scope whose state was evicted is empty, and what it kept does not come back', async (t) => {
  const { ac, clock, scopes } = await opened()
  await putBytes(scopes.layer(one), actionOf('a'), resultOf('old'), call)
  await ac.remove(Digest.ofOwn('SCOPE', JSON.stringify(['state', 'one'])), 'unwanted', call)
  clock.advance(5_001)
  t.equal(await read(scopes.layer(one), 'a'), 'none')
  await putBytes(scopes.layer(one), actionOf('b'), resultOf('new'), call)
  t.same([await read(scopes.layer(one), 'a'), await read(scopes.layer(one), 'b')], ['none', 'new'])
})

t.test('a scope that nothing used for its days is given back, one that is used is not', async (t) => {
  const { clock, scopes } = await opened()
  await putBytes(scopes.layer(one), actionOf('a'), resultOf('used'), call)
  await putBytes(scopes.layer(two), actionOf('a'), resultOf('unused'), call)
  for (let day = 0; day < 9; day++) {
    clock.advance(DAY_MS)
    t.equal(await read(scopes.layer(one), 'a'), 'used')
  }
  clock.advance(2 * DAY_MS)
  t.equal(await read(scopes.layer(one), 'a'), 'used')
  t.equal(await read(scopes.layer(two), 'a'), 'none')
})

/** A result that names a file of so many bytes. */
const withFile = (text: string, sizeBytes: number): Buffer =>
  resultCodec.encode({
    stdoutRaw: Buffer.from(text),
    outputFiles: [{ path: 'f', digest: { hash: 'a'.repeat(64), sizeBytes } }],
  })

const filled = async (t: Test, scopes: Scopes) => {
  const layer = scopes.layer(one)
  for (const text of ['a', 'b', 'c']) {
    await putBytes(layer, actionOf(text), withFile(text, 4000), call)
    // Used last.
    t.equal(await read(layer, 'a'), 'a')
  }
  return layer
}

t.test('above its bytes a scope loses its own least recently used results, and nothing is refused', async (t) => {
  const { scopes, ac } = await opened(undefined, { maxBytes: 10_000 })
  await putBytes(ac, actionOf('shared'), withFile('shared', 1e9), call)
  const layer = await filled(t, scopes)
  t.same([await read(layer, 'a'), await read(layer, 'b'), await read(layer, 'c')], ['a', 'none', 'c'])
  t.equal(await read(ac, 'shared'), 'shared')
  await putBytes(layer, actionOf('large'), withFile('large', 20_000), call)
  t.equal(await read(layer, 'large'), 'none')
  await putBytes(scopes.layer(two), actionOf('a'), withFile('two', 9000), call)
  t.equal(await read(scopes.layer(two), 'a'), 'two', 'another scope has bytes of its own')
})

t.test('the bytes of a scope count over a restart', async (t) => {
  const { scopes, other, ac } = await opened(undefined, { maxBytes: 14_000 })
  await filled(t, scopes)
  const later = other()
  const layer = later.layer(one)
  await putBytes(layer, actionOf('d'), withFile('d', 4000), call)
  const kept = await Promise.all(['a', 'b', 'c', 'd'].map((text) => read(layer, text)))
  t.ok(kept.filter((text) => text !== 'none').length <= 3, kept.join())
  t.equal(await read(ac, 'a'), 'none')
})
