import t from 'tap'
import { ForwardingStore } from '../../../../src/blobs/forwarding.js'
import type { SideBySide } from '../../../../src/blobs/store.js'
import type { Digest } from '../../../../src/reapi/digest.js'
import type { Call } from '../../../../src/rpc/call.js'
import { isolatedView } from '../../../../src/store/view/isolated.js'
import type { Blob } from '../../../../src/stream/blob/blob.js'
import type { Range } from '../../../../src/stream/path.js'
import { bytesOf, digestOf, get, put } from '../../blobs.js'
import { memoryStore } from '../../build.js'
import { deduplicated } from '../../composed.js'
import { openFilesystem } from '../filesystem/open.js'

/** Counts reads of single blobs and of runs. */
class Reads extends ForwardingStore {
  singles = 0
  runs = 0

  get sideBySide(): SideBySide | undefined {
    const { sideBySide } = this.backend
    return (
      sideBySide && {
        runs: (digests) => sideBySide.runs(digests),
        get: (run, range, inner) => {
          this.runs += 1
          return sideBySide.get(run, range, inner)
        },
      }
    )
  }

  override get(digest: Digest, range: Range, inner: Call): Promise<Blob> {
    this.singles += 1
    return super.get(digest, range, inner)
  }

  take(): { singles: number; runs: number } {
    const { singles, runs } = this
    this.singles = 0
    this.runs = 0
    return { singles, runs }
  }
}

t.test('a new blob is read as one range of its file, and what shares chunks as few', async (t) => {
  const files = await openFilesystem(t.testdir(), { small_blob_size: 1000 })
  const reads = new Reads(files.store)
  const store = await deduplicated(await memoryStore(), reads)
  for (const view of [store, isolatedView(store, 'one')]) {
    const first = bytesOf(600_000)
    await put(view, digestOf(first), first)
    const changed = Buffer.concat([first.subarray(0, 250_000), bytesOf(100_000, 'new'), first.subarray(250_000)])
    await put(view, digestOf(changed), changed)
    reads.take()
    t.ok((await get(view, digestOf(first))).equals(first))
    t.same(reads.take(), { singles: 0, runs: 1 })
    t.ok((await get(view, digestOf(changed))).equals(changed))
    t.same(reads.take(), { singles: 0, runs: 3 })
    for (const offset of [0, 1, 249_999, 300_000, 699_999]) {
      const part = await get(view, digestOf(changed), { offset, limit: 200_000 })
      t.ok(part.equals(changed.subarray(offset, offset + 200_000)), `from ${offset}`)
    }
    reads.take()
    t.ok((await get(view, digestOf(first), { offset: 10, limit: 20 })).equals(first.subarray(10, 30)))
    t.same(reads.take(), { singles: 1, runs: 0 }, 'a part of one chunk')
  }
  await files.close()
})

t.test('chunks that nobody has read since the start are read by themselves, then as one', async (t) => {
  const folder = t.testdir()
  const bytes = bytesOf(600_000)
  const index = await memoryStore()
  for (const isFirst of [true, false]) {
    const files = await openFilesystem(folder, { small_blob_size: 1000 })
    const reads = new Reads(files.store)
    const store = await deduplicated(index, reads)
    if (isFirst) await put(store, digestOf(bytes), bytes)
    else {
      t.ok((await get(store, digestOf(bytes))).equals(bytes))
      t.ok(reads.take().singles > 10)
      t.ok((await get(store, digestOf(bytes))).equals(bytes))
      t.same(reads.take(), { singles: 0, runs: 1 })
    }
    await files.close()
  }
})
