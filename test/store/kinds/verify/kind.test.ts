import t from 'tap'
import { missingOf, putBytes, type Store } from '../../../../src/blobs/store.js'
import { verify } from '../../../../src/store/kinds/verify/kind.js'
import { asCas } from '../../../../src/store/view/cas.js'
import { bytesOf, call, digestOf, get, isPresent, put, putStream, source } from '../../blobs.js'
import { buildStore, given, memoryStore } from '../../build.js'
import { rejects, storeSuite } from '../../suite.js'

const verified = (backend: Store, checks: { size?: boolean; hash?: boolean } = {}): Promise<Store> =>
  buildStore(
    verify,
    { backend: given, verify_size: checks.size ?? true, verify_hash: checks.hash ?? true },
    { children: { backend } },
  )

const kinds = {
  'verify over memory': async () => verified(await memoryStore()),
  'memory as CAS': async () => asCas(await memoryStore()),
  'verify as CAS': async () => asCas(await verified(await memoryStore())),
}

for (const [name, open] of Object.entries(kinds)) {
  storeSuite(t, {
    name,
    open: async () => ({ store: await open(), close: async () => {} }),
    isPersistent: false,
    isBrief: true,
    checksUploads: true,
  })

  t.test(`${name}: rejects uploads that do not match the digest, as the client's error`, async (t) => {
    const store = await open()
    for (const sizeBytes of [1, 1000, 300_000]) {
      const bytes = bytesOf(sizeBytes)
      const digest = digestOf(bytes)
      const wrong = Buffer.from(bytes)
      wrong[sizeBytes - 1] = (wrong[sizeBytes - 1] ?? 0) ^ 1
      const bodies = {
        'a wrong byte': wrong,
        'a byte less': bytes.subarray(1),
        'a byte more': Buffer.concat([bytes, Buffer.from('x')]),
        nothing: Buffer.alloc(0),
      }
      for (const [what, body] of Object.entries(bodies)) {
        for (const sizes of [[64 * 1024], [999_999], [sizeBytes, 1], [700, 1]]) {
          await rejects(t, put(store, digest, body, { sizes }), 'INVALID_ARGUMENT')
          t.notOk(await isPresent(store, digest), `${what} of ${sizeBytes} in chunks of ${sizes}`)
        }
        await rejects(t, putBytes(store, digest, body, call), 'INVALID_ARGUMENT')
      }
      await put(store, digest, bytes)
      await rejects(t, put(store, digest, wrong), 'INVALID_ARGUMENT')
      t.ok((await get(store, digest)).equals(bytes), 'what was there stays')
    }
  })
}

t.test('the message has the expected and the received values', async (t) => {
  const store = await verified(await memoryStore())
  const digest = digestOf(Buffer.from('hello'))
  await t.rejects(put(store, digest, Buffer.from('hell')), {
    message: `the bytes sent for blob ${digest.key} are not that blob: expected 5 bytes, found 4`,
  })
  await t.rejects(put(store, digest, Buffer.from('hello world')), { message: /expected 5 bytes, found at least 11$/ })
  await t.rejects(put(store, digest, Buffer.from('hullo')), {
    message: /expected SHA256 2cf24[0-9a-f]+, found [0-9a-f]{64}$/,
  })
})

t.test('an upload too long fails at the first byte too many', async (t) => {
  const store = await verified(await memoryStore())
  const bytes = bytesOf(1000)
  let given = 0
  const endless = source(
    (function* () {
      for (;;) {
        given += 1
        yield bytes
      }
    })(),
  )
  const digest = digestOf(bytes)
  await rejects(t, putStream(store, digest, endless), 'INVALID_ARGUMENT')
  t.ok(given < 1000, `${given} chunks were taken`)
})

t.test('a damaged blob of the backend is DATA_LOSS once and then a miss', async (t) => {
  const bytes = bytesOf(200_000)
  const digest = digestOf(bytes)
  const wrong = bytesOf(200_000, 'other')
  for (const body of [wrong, bytes.subarray(1), Buffer.concat([bytes, bytes]), Buffer.alloc(0)]) {
    const backend = await memoryStore()
    const store = await verified(backend)
    await put(backend, digest, body)
    t.ok(await isPresent(store, digest))
    await rejects(t, get(store, digest), 'DATA_LOSS')
    t.notOk(await isPresent(backend, digest), 'removed')
    await rejects(t, get(store, digest), 'NOT_FOUND')
  }
})

t.test('each check can be disabled', async (t) => {
  const bytes = bytesOf(100)
  const digest = digestOf(bytes)
  const sizeOnly = await verified(await memoryStore(), { hash: false })
  await put(sizeOnly, digest, bytesOf(100, 'other'))
  await rejects(t, put(sizeOnly, digest, bytesOf(99)), 'INVALID_ARGUMENT')
  const hashOnly = await verified(await memoryStore(), { size: false })
  await rejects(t, put(hashOnly, digest, bytesOf(100, 'other')), 'INVALID_ARGUMENT')
  await put(hashOnly, digest, bytes)
  const neither = await verified(await memoryStore(), { size: false, hash: false })
  await put(neither, digest, bytesOf(50))
  t.equal((await get(neither, digest)).length, 50)
})

t.test('the empty blob is in every CAS and nowhere else', async (t) => {
  const backend = await memoryStore()
  const cas = asCas(backend)
  const empty = digestOf(Buffer.alloc(0))
  const absent = digestOf(Buffer.from('absent'))
  t.same(
    (await missingOf(cas, [empty, absent, empty], call)).map(({ key }) => key),
    [absent.key],
  )
  t.equal((await get(cas, empty)).length, 0)
  t.equal((await get(cas, empty, { offset: 0, limit: 10 })).length, 0)
  await rejects(t, get(cas, empty, { offset: 1, limit: 10 }), 'OUT_OF_RANGE')
  await putStream(cas, empty, source([]))
  await putBytes(cas, empty, Buffer.alloc(0), call)
  await rejects(t, putStream(cas, empty, source([Buffer.from('x')])), 'INVALID_ARGUMENT')
  await cas.remove(empty, 'unwanted', call)
  t.equal((await get(cas, empty)).length, 0)
  t.notOk(await isPresent(backend, empty), 'it is not stored')
})
