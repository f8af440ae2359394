import t from 'tap'
import { ManualClock } from '../../../src/base/clock.js'
import type { Digest } from '../../../src/reapi/digest.js'
import { until } from '../../until.js'
import { bytesOf, call, digestOf, isPresent, put } from '../blobs.js'
import { Crew } from './crew.js'

const crew = await Crew.start(2)
t.teardown(() => crew.stop())

t.test('what a thread has used last is evicted last, also after a restart', async (t) => {
  const folder = t.testdir()
  const clock = new ManualClock(1_000_000_000)
  const blobs = ['used', 'unused', 'used by the other'].map((seed) => bytesOf(100, seed))
  const [used, unused, byOther] = blobs.map(digestOf) as [Digest, Digest, Digest]
  const before = await crew.open(folder, { clock })
  for (const bytes of blobs) {
    await put(before.store, digestOf(bytes), bytes)
    clock.advance(20_000)
    crew.follow(clock)
  }
  const [first, second] = before.threads
  if (first === undefined || second === undefined) throw new Error('there are two threads')
  t.ok(await isPresent(second, byOther))
  clock.advance(20_000)
  crew.follow(clock)
  t.ok(await isPresent(first, used))
  // The owner has heard of a use once it has done what was asked later.
  for (const thread of [first, second]) await put(thread, digestOf(bytesOf(10)), bytesOf(10))
  await before.store.remove(digestOf(bytesOf(10)), 'unwanted', call)
  await before.close()
  const after = await crew.open(folder, { clock, policy: { max_count: 2 } })
  t.teardown(() => after.close())
  await until(async () => after.usage().entryCount <= 2)
  t.same(await Promise.all([used, unused, byOther].map((digest) => isPresent(after.store, digest))), [
    true,
    false,
    true,
  ])
})
