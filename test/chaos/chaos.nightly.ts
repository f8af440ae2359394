/**
 * The size that fits a test run is 200 actions; REMEXEC_CHAOS_ACTIONS=2000 npx tap --timeout=900 test/chaos/chaos.nightly.ts is
 * the whole of it.
 */
import t from 'tap'
import { chaos } from './chaos.js'

// For changes in: src/scheduler, src/service/worker-api, src/service/execution, src/worker, src/process
// For changes in: src/assembly/workers.ts, src/assembly/worker-process.ts

const actionCount = Number(process.env['REMEXEC_CHAOS_ACTIONS'] ?? 200)
t.setTimeout(170_000 + actionCount * 300)

t.test('every action completes once, whatever befalls scheduler, workers and network', (t) =>
  chaos(t, { actionCount, threads: 1 }),
)
