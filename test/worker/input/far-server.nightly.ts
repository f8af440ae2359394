/** The inputs of a large action come from a far server in batches. */
import { readdirSync } from 'node:fs'
import t from 'tap'
import { manyFiles, setUpFar } from './far-server.js'

// For changes in: src/worker/input, src/store/kinds/fast_slow, src/store/kinds/grpc

t.test('10,000 small files of a server 25 ms away', async (t) => {
  const far = await setUpFar(t)
  const root = manyFiles(far, 10_000)
  await far.upload()
  const { at, roundTrips } = await far.make(root)
  t.equal(readdirSync(at).length, 100)
  t.ok(roundTrips <= 120, `${roundTrips} round trips for 10,000 files`)
})
