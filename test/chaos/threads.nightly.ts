// For changes in: src/assembly, src/server/threads
import t from 'tap'
import { chaos } from './chaos.js'

t.setTimeout(400_000)

t.test('with four service threads: every action completes once, whatever befalls scheduler, workers and network', (t) =>
  chaos(t, { actionCount: 200, threads: 4 }),
)
