import { readdir } from 'node:fs/promises'
import t from 'tap'
import { until } from '../../../until.js'
import { bytesOf, digestOf, get, put } from '../../blobs.js'
import { endpoint, openGrpcStore, startRemexec, untilWell } from './remexec.js'

const MIB = 1024 * 1024

const descriptors = async (): Promise<number> => (await readdir('/proc/self/fd')).length

t.test('a server killed and restarted under load loses no confirmed blob', async (t) => {
  const first = await startRemexec(t)
  const { store } = await openGrpcStore(t, {
    endpoints: [endpoint(first.port)],
    retry: { max_retries: 14, delay: 0.01, jitter: 0.5, budget_s: 30 },
    connections_per_endpoint: 2,
    max_concurrent_requests: 16,
  })
  await untilWell(store)
  const before = await descriptors()
  let keptCount = 0
  const lane = async (name: string) => {
    const kept = []
    for (let i = 0; i < 15; i++) {
      const bytes = bytesOf(i % 5 === 0 ? 2 * MIB : 3000, `${name} ${i}`)
      const one = { bytes, digest: digestOf(bytes) }
      await put(store, one.digest, one.bytes)
      kept.push(one)
      keptCount++
    }
    return kept
  }
  const running = Promise.all(['a', 'b', 'c', 'd'].map(lane))
  await until(async () => keptCount >= 10)
  await first.kill()
  const second = await first.restart()
  await until(async () => keptCount >= 30)
  t.ok(keptCount < 60, 'uploads are under way')
  await second.kill()
  await second.restart()
  const all = (await running).flat()
  for (const { digest, bytes } of all) t.ok((await get(store, digest)).equals(bytes), digest.key)
  t.ok((await descriptors()) <= before + 4, 'and no connection is left behind')
})
