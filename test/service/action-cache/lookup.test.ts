import t from 'tap'
import { StatusError } from '../../../src/base/status-error.js'
import { ForwardingStore } from '../../../src/blobs/forwarding.js'
import { putBytes, type Store } from '../../../src/blobs/store.js'
import { DirectoryTrees } from '../../../src/content/directory-trees.js'
import { codec } from '../../../src/proto/codec.js'
import { internalCall } from '../../../src/rpc/call.js'
import { hitOf, lookUpEntry, lookUpResult } from '../../../src/service/action-cache/lookup.js'
import { StoreNode } from '../../../src/store/contract/node.js'
import { withCompleteness } from '../../../src/store/kinds/completeness_checking/checking-store.js'
import { asCas } from '../../../src/store/view/cas.js'
import { isolatedView } from '../../../src/store/view/isolated.js'
import { asKeyed } from '../../../src/store/view/keyed.js'
import { blobOf, MIB, memoryStore, put, wire } from '../harness.js'

const resultCodec = codec('build.bazel.remote.execution.v2.ActionResult')
const call = internalCall()
const action = blobOf('action').digest
const output = blobOf('output')
const hints = { inlineStdout: true, inlineStderr: false, inlineOutputFiles: [] }
const withStdout = resultCodec.encode({ stdoutDigest: wire(output.digest) })

const parts = async () => {
  const cas = asCas(await memoryStore())
  const entries = asKeyed(new StoreNode(await memoryStore(), { path: 'AC' }))
  const ac = withCompleteness(entries, cas, new DirectoryTrees())
  return { cas, entries, ac, context: { ac, cas, call, maxBytes: MIB } }
}

t.test('an action without an entry is absent', async (t) => {
  const { context } = await parts()
  const answer = await lookUpEntry(action, context)
  t.match(answer, { kind: 'absent', error: { code: 5, message: /^no result for action .* is not in memory$/ } })
  t.throws(() => hitOf(answer), { code: 5 })
})

t.test('an entry whose output has gone is incomplete and names the output', async (t) => {
  const { cas, entries, ac, context } = await parts()
  await putBytes(entries, action, withStdout, call)
  const answer = await lookUpEntry(action, context)
  t.match(answer, {
    kind: 'incomplete',
    error: { message: /^no result for action .*: output .* is no longer in the CAS$/ },
  })
  t.equal(answer.kind === 'incomplete' && answer.output.key, output.digest.key)

  await put(cas, output)
  t.ok(hitOf(await lookUpEntry(action, context)).equals(withStdout))
  const leaves: Store = new LeavesStore(cas)
  const gone = await lookUpResult(action, hints, { ...context, ac, cas: leaves })
  t.equal(gone.kind === 'incomplete' && gone.output.key, output.digest.key, 'between the lookup and the read')
})

t.test('an isolated instance learns the digest that it knows', async (t) => {
  const { cas, entries } = await parts()
  const own = isolatedView(entries, 'team')
  const ac = withCompleteness(own, isolatedView(cas, 'team'), new DirectoryTrees())
  await putBytes(own, action, withStdout, call)
  await put(cas, output)
  const answer = await lookUpEntry(action, { ac, cas, call, maxBytes: MIB })
  t.equal(answer.kind === 'incomplete' && answer.output.key, output.digest.key)
})

t.test('an entry that is no result is damaged', async (t) => {
  const { entries, context } = await parts()
  await putBytes(entries, action, Buffer.from([0xff]), call)
  t.match(await lookUpEntry(action, context), { kind: 'damaged', error: { message: /the entry was damaged$/ } })
  t.equal((await lookUpEntry(action, context)).kind, 'absent', 'it is dropped')
})

t.test('a cache behind another server that refuses is forbidden; one that is away is an error', async (t) => {
  const { context } = await parts()
  for (const code of ['PERMISSION_DENIED', 'UNAUTHENTICATED'] as const) {
    const ac = new RefusingStore(context.ac, new StatusError(code, 'no'))
    t.match(await lookUpEntry(action, { ...context, ac }), { kind: 'forbidden', error: { message: 'no' } })
  }
  const away = new RefusingStore(context.ac, new StatusError('UNAVAILABLE', 'away'))
  await t.rejects(lookUpEntry(action, { ...context, ac: away }), { message: 'away' })
})

/** Everything is present until it is read. */
class LeavesStore extends ForwardingStore {
  override get(): Promise<never> {
    return Promise.reject(new StatusError('NOT_FOUND', 'the blob has just gone'))
  }
}

class RefusingStore extends ForwardingStore {
  readonly #error: StatusError

  constructor(backend: Store, error: StatusError) {
    super(backend)
    this.#error = error
  }

  override get(): Promise<never> {
    return Promise.reject(this.#error)
  }
}
