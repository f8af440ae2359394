/** Metrics for each fault of a backend: one error per failed blob, and nothing is left open. */
import { readdir } from 'node:fs/promises'
import type { Test } from 'tap'
import { StatusError } from '../../../src/base/status-error.js'
import { missingOf } from '../../../src/blobs/store.js'
import { callWith } from '../../../src/rpc/call.js'
import { WHOLE } from '../../../src/stream/path.js'
import { untilSo } from '../../until.js'
import { bytesOf, call, digestOf, get, put } from '../blobs.js'
import { counted } from './counted.js'
import type { TestedBackend } from './every-backend.js'

const KIB = 1024
const NO_RETRY = { max_retries: 0, delay: 0, jitter: 0, budget_s: 0 }

/** However often it is tried again. */
const EVERY_TIME = Array.from({ length: 20 }, () => 10)

const openDescriptors = async (): Promise<number> => (await readdir('/proc/self/fd')).length

/** Whether it rejects. */
const REJECTS = [() => false, () => true] as const

export const countsFailures = (t: Test, backends: Readonly<Record<string, TestedBackend>>): void => {
  for (const [name, { skip, isPatient, open }] of Object.entries(backends)) {
    void t.test(`${name}: each failure is one error in the metrics, and leaves nothing open`, { skip }, async (t) => {
      const { proxy, store: backend, close } = await open(t, { retry: NO_RETRY, silenceS: 1 })
      const { store, failures } = counted(backend)
      const descriptors = await openDescriptors()
      const untilWell = () => untilSo(async () => (await backend.health(call)).state === 'Ok')
      const [small, large, absent] = [bytesOf(1000), bytesOf(KIB * KIB), bytesOf(1000, 'absent')]
      const both = [small, absent].map(digestOf)
      const inVain = async (work: Promise<unknown>): Promise<string[]> => {
        t.ok(await work.then(...REJECTS), 'it fails')
        return failures()
      }
      await untilWell()
      for (const bytes of [small, large]) await put(store, digestOf(bytes), bytes)
      await get(store, digestOf(absent)).catch(() => {})
      t.same(failures(), [], 'a missing blob is not an error')

      proxy.refuses = true
      t.same(await inVain(put(store, digestOf(absent), absent)), ['write error: 1'], 'refused')
      t.same(await inVain(get(store, digestOf(small))), ['read error: 1'], 'refused')
      t.same(await inVain(missingOf(store, both, call)), ['find_missing error: 2'], 'refused')
      proxy.refuses = false
      await untilWell()

      const other = bytesOf(KIB * KIB, 'other')
      proxy.cutAfter(200 * KIB, ...EVERY_TIME)
      t.same(await inVain(put(store, digestOf(other), other)), ['write error: 1'], 'cut in the middle')
      proxy.cutAfter(Number.POSITIVE_INFINITY)
      await untilWell()
      proxy.cutAfter(200 * KIB, ...EVERY_TIME)
      t.same(await inVain(get(store, digestOf(large))), ['read error: 1'], 'cut in the middle')
      proxy.cutAfter(Number.POSITIVE_INFINITY)
      await untilWell()

      proxy.isStalled = true
      if (!isPatient) {
        const [read, asked] = [get(store, digestOf(small)), missingOf(store, both, call)].map((one) =>
          one.then(...REJECTS),
        )
        t.same([await read, await asked], [true, true], 'silent')
        t.same(failures(), ['read error: 1', 'find_missing error: 2'], 'silent')
        proxy.isStalled = false
        await untilWell()
        proxy.isStalled = true
      }
      const late = new AbortController()
      const reading = store.get(digestOf(small), WHOLE, callWith(call, { signal: late.signal }))
      late.abort(new StatusError('DEADLINE_EXCEEDED', 'the time of the caller is over'))
      t.same(await inVain(reading), ['read cancelled: 1'], 'no error after the deadline of the caller')
      proxy.isStalled = false
      await untilWell()

      if (name !== 'grpc') {
        const changed = Buffer.from(small)
        changed.writeUInt8(changed.readUInt8(500) ^ 1, 500)
        await put(backend, digestOf(small).asKey(), changed)
        t.same(await inVain(get(store, digestOf(small))), ['read error: 1'], 'corrupt')
      }

      t.ok((await get(store, digestOf(large))).equals(large), 'and all is well')
      t.same(failures(), [])
      await close()
      proxy.cut()
      await untilSo(async () => (await openDescriptors()) <= descriptors)
      t.pass('nothing is left open')
    })
  }
}
