import { setImmediate } from 'node:timers/promises'
import t from 'tap'
import { ManualClock } from '../../../src/base/clock.js'
import { StatusError } from '../../../src/base/status-error.js'
import { silentLog } from '../../../src/log/log.js'
import type { Bucket } from '../../../src/store/objects/bucket.js'
import { Refresher } from '../../../src/store/objects/refresher.js'
import { Requests } from '../../../src/store/remote/requests.js'

const DAY_MS = 24 * 3_600_000

/** A bucket whose refreshes end when the test says so. The real ones are in kinds/experimental_cloud_object_store. */
const open = () => {
  const held: (() => void)[] = []
  let begun = 0
  const refresh = (_key: string, _facts: unknown, signal: AbortSignal) =>
    new Promise<boolean>((resolve, reject) => {
      begun += 1
      held.push(() => resolve(true))
      signal.addEventListener('abort', () => reject(signal.reason))
    })
  const clock = new ManualClock(100 * DAY_MS)
  const requests = new Requests({
    backend: 'the bucket',
    retry: { max_retries: 0, delay: 0, jitter: 0, budget_s: 1 },
    maxConcurrent: 256,
    timeoutMs: 1000,
    failureOf: StatusError.from,
  })
  const parts = { bucket: { refresh } as unknown as Bucket, requests, lifecycleMs: 10 * DAY_MS, path: 'CAS' }
  const refresher = new Refresher({ ...parts, clock, log: silentLog })
  const agedDays = (days: number) => ({ sizeBytes: 1, writtenAtMs: clock.now() - days * DAY_MS, version: 'v' })
  return { refresher, agedDays, held, begun: () => begun }
}

const turns = async (): Promise<void> => {
  for (let turn = 0; turn < 20; turn++) await setImmediate()
}

t.test('sixteen objects at a time, each once, and no use waits for them', async (t) => {
  const { refresher, agedDays, held, begun } = open()
  for (let round = 0; round < 2; round++)
    for (let at = 0; at < 40; at++) t.ok(await refresher.used(`key ${at}`, agedDays(6)))
  await turns()
  t.equal(begun(), 16)
  for (let ended = 0; ended < 40; ended++) {
    held.shift()?.()
    await turns()
  }
  t.equal(begun(), 40)
  await refresher.close()
})

t.test(
  'a use that cannot wait does not queue behind those that can, and joins the refresh of its object',
  async (t) => {
    const { refresher, agedDays, held, begun } = open()
    for (let at = 0; at < 40; at++) await refresher.used(`key ${at}`, agedDays(6))
    await turns()
    const urgent = [refresher.used('urgent', agedDays(9)), refresher.used('urgent', agedDays(9))]
    await turns()
    t.equal(begun(), 17)
    held.at(-1)?.()
    t.same(await Promise.all(urgent), [true, true])
    await refresher.close()
  },
)

t.test('at its end it gives up what is under way and what waits', async (t) => {
  const { refresher, agedDays, begun } = open()
  for (let at = 0; at < 40; at++) await refresher.used(`key ${at}`, agedDays(6))
  await turns()
  await refresher.close()
  await turns()
  t.equal(begun(), 16)
})
