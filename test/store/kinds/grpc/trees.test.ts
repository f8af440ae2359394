/** Pages of trees take room in the ledger of the process that reads them. */
import { setImmediate } from 'node:timers/promises'
import t, { type Test } from 'tap'
import type { DirectoryBytes } from '../../../../src/blobs/store.js'
import { Ledger } from '../../../../src/ledger/ledger.js'
import type { Digest } from '../../../../src/reapi/digest.js'
import { encodeDirectory } from '../../../../src/reapi/directory.js'
import { internalCall } from '../../../../src/rpc/call.js'
import { bytesOf, digestOf, putAll } from '../../blobs.js'
import { rejects } from '../../suite.js'
import { endpoint, openGrpcStore, startRemexec } from './remexec.js'

const MIB = 1024 * 1024
/** The share of a holder. */
const SHARE = 16

const setUp = async (t: Test, shareBytes: number) => {
  const server = await startRemexec(t)
  const { store } = await openGrpcStore(t, { endpoints: [endpoint(server.port)] })
  const ledger = new Ledger({ inputs: SHARE * shareBytes })
  const holder = ledger.attempt()
  /** A tree of some Directories with so many links each. */
  const tree = async (count: number, links: number): Promise<Digest> => {
    const target = 'x'.repeat(1000)
    const encoded = Array.from({ length: count }, (_, at) =>
      encodeDirectory({ symlinks: Array.from({ length: links }, (_, link) => ({ name: `l${at}-${link}`, target })) }),
    )
    const directories = encoded.map((bytes, at) => ({ name: `d${at}`, digest: digestOf(bytes).toMessage() }))
    const root = encodeDirectory({ directories })
    await putAll(
      store,
      [...encoded, root].map((bytes) => ({ digest: digestOf(bytes), bytes })),
    )
    return digestOf(root)
  }
  const { inputs } = ledger.kinds
  const read = (root: Digest, take: (directories: readonly DirectoryBytes[]) => void, signal?: AbortSignal) =>
    store.trees?.read(
      root,
      async (directories) => take(directories),
      internalCall({ held: { ledger, holder }, ...(signal && { signal }) }),
    )
  return { inputs, holder, tree, read }
}

t.test('a tree is read when there is room for a page, and gives it back', async (t) => {
  const { inputs, holder, tree, read } = await setUp(t, 4 * MIB)
  const root = await tree(3, 2)
  const all = inputs.reserveOrThrow(holder, inputs.boundOf(holder))
  let taken = 0
  const held: number[] = []
  const reading = read(root, (directories) => {
    taken += directories.length
    held.push(inputs.heldBytes)
  })
  for (let turn = 0; turn < 20; turn++) await setImmediate()
  t.equal(taken, 0, 'it waits')
  all.release()
  await reading
  t.equal(taken, 4)
  t.ok(held.every((bytes) => bytes === 2 * MIB))
  t.equal(inputs.heldBytes, 0)

  const again = inputs.reserveOrThrow(holder, inputs.boundOf(holder))
  const leaving = new AbortController()
  const given = read(root, () => {}, leaving.signal)
  leaving.abort()
  await rejects(t, given as Promise<unknown>, 'CANCELLED')
  again.release()
  t.equal(inputs.heldBytes, 0, 'a call that ended leaves nothing reserved')
})

t.test('a larger page takes more room, and without it the reading ends', async (t) => {
  for (const [shareBytes, isEnough] of [
    [4 * MIB, true],
    [2 * MIB, false],
  ] as const) {
    const { inputs, tree, read } = await setUp(t, shareBytes)
    const root = await tree(2, 2_600)
    const held: number[] = []
    const reading = read(root, () => void held.push(inputs.heldBytes)) as Promise<unknown>
    if (isEnough) await reading
    else await rejects(t, reading, 'RESOURCE_EXHAUSTED')
    t.equal(
      held.some((bytes) => bytes > 2 * MIB),
      isEnough,
    )
    t.equal(inputs.heldBytes, 0)
  }
})

t.test('bytes of a tree are those of its Directories', async (t) => {
  const { tree, read } = await setUp(t, 4 * MIB)
  const root = await tree(2, 1)
  const found: DirectoryBytes[] = []
  await read(root, (directories) => found.push(...directories))
  t.equal(found[0]?.digest.key, root.key, 'parents first')
  for (const { digest, bytes } of found) t.equal(digestOf(bytes).key, digest.key)
  await rejects(t, read(digestOf(bytesOf(10)), () => {}) as Promise<unknown>, 'NOT_FOUND')
})
