import t from 'tap'
import { ManualClock } from '../../../../src/base/clock.js'
import { isStatus } from '../../../../src/base/status-error.js'
import { ForwardingStore } from '../../../../src/blobs/forwarding.js'
import { missingOf, putBytes, type Store } from '../../../../src/blobs/store.js'
import { codec } from '../../../../src/proto/codec.js'
import type { Digest } from '../../../../src/reapi/digest.js'
import type { DigestBatch } from '../../../../src/reapi/digest-batch.js'
import type { Call } from '../../../../src/rpc/call.js'
import { completenessChecking } from '../../../../src/store/kinds/completeness_checking/kind.js'
import type { Blob } from '../../../../src/stream/blob/blob.js'
import type { Range } from '../../../../src/stream/path.js'
import { bytesOf, call, digestOf, get } from '../../blobs.js'
import { buildStore, given, memoryStore } from '../../build.js'

const resultCodec = codec('build.bazel.remote.execution.v2.ActionResult')
const treeCodec = codec('build.bazel.remote.execution.v2.Tree')

const BLOB_BYTES = 1000
/** The outputs of a result, and more than as many blobs that nobody has asked for since. */
const [OUTPUTS, OTHERS] = [6, 20]
const RETENTION_MS = 3 * 3_600_000

/** Does something before or after one of the questions that it passes on: each is a point where a hit waits. */
class Interrupted extends ForwardingStore {
  readonly #at: { step: number; readonly due: number; readonly work: () => Promise<void> }

  constructor(backend: Store, at: { step: number; readonly due: number; readonly work: () => Promise<void> }) {
    super(backend)
    this.#at = at
  }

  override async findMissing(digests: DigestBatch, call: Call): Promise<DigestBatch> {
    await this.#step()
    const missing = await super.findMissing(digests, call)
    await this.#step()
    return missing
  }

  override async get(digest: Digest, range: Range, call: Call): Promise<Blob> {
    await this.#step()
    const blob = await super.get(digest, range, call)
    await this.#step()
    return blob
  }

  async #step(): Promise<void> {
    const at = this.#at
    at.step += 1
    if (at.step === at.due) await at.work()
  }
}

/** A hit that is interrupted at one of its steps by uploads that evict the oldest blobs, its outputs first. */
const interruptedHit = async (due: number) => {
  const clock = new ManualClock(1_000_000_000_000)
  const cas = await memoryStore({ max_bytes: (OUTPUTS + OTHERS + 2) * BLOB_BYTES }, clock)
  const results = await memoryStore({}, clock)
  const put = async (bytes: Buffer): Promise<Digest> => {
    await putBytes(cas, digestOf(bytes), bytes, call)
    return digestOf(bytes)
  }
  const blobs = await Promise.all(
    Array.from({ length: OUTPUTS }, (_, at) => put(bytesOf(BLOB_BYTES, `output ${due} ${at}`))),
  )
  const [inTree, inChild, stdout, ...files] = blobs as [Digest, Digest, Digest, ...Digest[]]
  const child = { files: [{ name: 'c', digest: inChild }] }
  const tree = await put(treeCodec.encode({ root: { files: [{ name: 'f', digest: inTree }] }, children: [child] }))
  for (let at = 0; at < OTHERS; at++) await put(bytesOf(BLOB_BYTES, `other ${due} ${at}`))
  const result = {
    outputFiles: files.map((digest, at) => ({ path: `${at}`, digest })),
    outputDirectories: [{ path: 'd', treeDigest: tree }],
    stdoutDigest: stdout,
  }
  const action = digestOf(Buffer.from(`action ${due}`)).asKey()
  await putBytes(results, action, resultCodec.encode(result), call)
  clock.advance(2 * RETENTION_MS)
  const flood = async (): Promise<void> => {
    for (let at = 0; at < OUTPUTS + 4; at++) await put(bytesOf(BLOB_BYTES, `flood ${due} ${at}`))
  }
  const at = { step: 0, due, work: flood }
  const children = { backend: new Interrupted(results, at), cas_store: new Interrupted(cas, at) }
  const checked = await buildStore(completenessChecking, { backend: given, cas_store: given }, { children })
  const isHit = await get(checked, action).then(
    () => true,
    (error: unknown) => {
      if (isStatus(error, 'NOT_FOUND')) return false
      throw error
    },
  )
  return {
    isHit,
    steps: at.step,
    gone: (await missingOf(cas, [...blobs, tree], call)).length,
    flood,
    cas,
    all: [...blobs, tree],
  }
}

t.test('a hit and evictions at each of its steps: every output of a served hit is there, and stays', async (t) => {
  const seen = new Set<string>()
  const { steps } = await interruptedHit(0)
  t.ok(steps >= 6, `${steps} steps: the result, the outputs, the Tree, what is in it`)
  for (let due = 0; due <= steps; due++) {
    const { isHit, gone, flood, cas, all } = await interruptedHit(due)
    seen.add(isHit ? 'hit' : 'miss')
    if (isHit) {
      t.equal(gone, 0, `step ${due}`)
      await flood()
      t.same(await missingOf(cas, all, call), [], `step ${due}: later uploads evict others`)
    } else t.ok(gone > 0, `step ${due}: a miss, because an output was gone`)
  }
  t.same(seen, new Set(['hit', 'miss']))
})
