import { setImmediate } from 'node:timers/promises'
import t from 'tap'
import { systemClock } from '../../../../src/base/clock.js'
import { ForwardingStore } from '../../../../src/blobs/forwarding.js'
import type { Store } from '../../../../src/blobs/store.js'
import { silentLog } from '../../../../src/log/log.js'
import { SparingLog } from '../../../../src/log/sparing-log.js'
import type { Digest } from '../../../../src/reapi/digest.js'
import { type Call, cancellation, whenAborted } from '../../../../src/rpc/call.js'
import { Copies } from '../../../../src/store/kinds/fast_slow/copies.js'
import type { Blob } from '../../../../src/stream/blob/blob.js'
import { bytesOf, call, digestOf, inTime, isPresent, put } from '../../blobs.js'
import { memoryStore } from '../../build.js'
import { rejects } from '../../suite.js'

class Door {
  open = (): void => {}
  meet = (): void => {}
  readonly opened = new Promise<void>((resolve) => {
    this.open = resolve
  })
  readonly reached = new Promise<void>((resolve) => {
    this.meet = resolve
  })

  pass(): Promise<void> {
    this.meet()
    return this.opened
  }
}

/** Waits at each door until the test opens it. */
class Doors extends ForwardingStore {
  readonly doors = { put: new Door(), remove: new Door() }

  override async put(...args: Parameters<Store['put']>): Promise<void> {
    await this.doors.put.pass()
    await super.put(...args)
  }

  override async remove(...args: Parameters<Store['remove']>): Promise<void> {
    await this.doors.remove.pass()
    await super.remove(...args)
  }
}

/** Answers no read. */
class Silent extends ForwardingStore {
  override get(_digest: Digest, _range: unknown, { signal }: Call): Promise<Blob> {
    return new Promise((_, reject) => whenAborted(signal, () => reject(cancellation(signal))))
  }
}

const log = new SparingLog(silentLog, systemClock, { lines: 1, periodMs: 1000 })
const repair = async (): Promise<void> => {}

const bytes = bytesOf(1000)
const key = digestOf(bytes).asKey()

const opened = async () => {
  const [fast, slow] = [new Doors(await memoryStore()), await memoryStore()]
  await put(slow, key, bytes)
  return { fast, slow, copies: new Copies({ fast, slow, log, repair }) }
}

t.test('a store closes although its slow one does not answer a read that is to be copied', async (t) => {
  const fast = await memoryStore()
  const copies = new Copies({ fast, slow: new Silent(await memoryStore()), log, repair })
  const read = rejects(t, copies.read(digestOf(bytes), call, undefined), 'CANCELLED')
  await inTime(copies.close(), 'the end of the copy')
  await read
})

t.test('a copy whose blob was replaced meanwhile has no more readers', async (t) => {
  const { fast, copies } = await opened()
  const first = await copies.read(key, call, undefined)
  t.ok((await first?.bytes(bytes.length, call))?.equals(bytes))
  await fast.doors.put.reached
  t.ok(await copies.read(key, call, undefined), 'it has until then')
  copies.outdate(key)
  t.equal(await copies.read(key, call, undefined), undefined, 'slow is asked')
  fast.doors.put.open()
  fast.doors.remove.open()
  await copies.close()
})

t.test('what is written to fast waits for the removal of the copy that it replaces', async (t) => {
  const { fast, copies } = await opened()
  await copies.read(key, call, undefined)
  await fast.doors.put.reached
  let isSettled = false
  const settled = copies.settled(key, call).then(() => {
    isSettled = true
  })
  fast.doors.put.open()
  await fast.doors.remove.reached
  for (let turn = 0; turn < 10; turn++) await setImmediate()
  t.notOk(isSettled, 'the removal is in flight')
  fast.doors.remove.open()
  await settled
  t.notOk(await isPresent(fast, key))
})
