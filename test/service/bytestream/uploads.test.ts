import t from 'tap'
import { ManualClock } from '../../../src/base/clock.js'
import { ForwardingStore } from '../../../src/blobs/forwarding.js'
import type { Digest } from '../../../src/reapi/digest.js'
import { type Call, internalCall } from '../../../src/rpc/call.js'
import { Uploads } from '../../../src/service/bytestream/uploads.js'
import { asCas } from '../../../src/store/view/cas.js'
import type { Blob } from '../../../src/stream/blob/blob.js'
import { memoryStore, randomBlob } from '../harness.js'

/** Removes what is left of a broken upload only when the test says so. */
class SlowToRemove extends ForwardingStore {
  letGo: () => void = () => {}
  /** Of the newest upload. */
  call: Call | undefined
  readonly #removed = new Promise<void>((resolve) => {
    this.letGo = resolve
  })

  override async put(digest: Digest, blob: Blob, call: Call): Promise<void> {
    this.call = call
    await super.put(digest, blob, call).finally(() => this.#removed)
  }
}

t.test('a stopping server waits until its stores have removed what is left of uploads', async (t) => {
  const store = new SlowToRemove(await memoryStore())
  const uploads = new Uploads(new ManualClock())
  const { digest, bytes } = randomBlob(1000)
  const target = { name: 'one', instanceName: '', cas: asCas(store), digest, compressor: undefined }
  const upload = uploads.begin({ ...target, isResumable: true, parkedForMs: 60_000 }, internalCall())
  await upload.write(bytes.subarray(0, 100))
  uploads.park(upload)
  let isClosed = false
  const closed = uploads.close().then(() => {
    isClosed = true
  })
  for (let turn = 0; turn < 50; turn++) await new Promise((resolve) => setImmediate(resolve))
  t.notOk(isClosed, 'the store still has a part of it')
  store.letGo()
  await closed
  await t.rejects(upload.over, { code: 1 })
})

t.test('a live upload waits for the room of the parked one that gives way to it', async (t) => {
  const store = new SlowToRemove(await memoryStore())
  const uploads = new Uploads(new ManualClock())
  const begin = async (name: string) => {
    const { digest, bytes } = randomBlob(1000)
    const target = { name, instanceName: '', cas, digest, compressor: undefined }
    const upload = uploads.begin({ ...target, isResumable: true, parkedForMs: 60_000 }, internalCall())
    await upload.write(bytes.subarray(0, 100))
    return upload
  }
  const cas = asCas(store)
  const parked = await begin('parked')
  uploads.park(parked)
  const live = await begin('live')
  let hasRoom: boolean | undefined
  const given = store.call?.giveWay?.().then((has) => {
    hasRoom = has
  })
  for (let turn = 0; turn < 50; turn++) await new Promise((resolve) => setImmediate(resolve))
  t.equal(hasRoom, undefined, 'the store still has a part of the parked one')
  store.letGo()
  await given
  t.equal(hasRoom, true)
  await t.rejects(parked.over)
  live.discard()
  await t.rejects(live.over)
})
