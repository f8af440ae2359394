import t from 'tap'
import { leavesResultsTo } from '../../src/assembly/workers.js'

const servers = (...stores: readonly string[]): Parameters<typeof leavesResultsTo>[0] =>
  stores.map((ac_store, at) => ({ services: { execution: new Map([[`${at}`, { ac_store }]]) } })) as never

const options = (upload_ac_results_strategy: string, ac_store?: string) =>
  ({ ac_store, upload_ac_results_strategy }) as Parameters<typeof leavesResultsTo>[1]

t.test('a worker leaves results to the server that would write the same ones', async (t) => {
  t.ok(leavesResultsTo(servers('AC'), options('success_only')), 'it has no action cache of its own')
  t.ok(leavesResultsTo(servers('AC', 'AC'), options('success_only', 'AC')))
  t.notOk(leavesResultsTo(servers('AC', 'OTHER'), options('success_only', 'AC')), 'one instance has another cache')
  t.notOk(leavesResultsTo(servers(), options('success_only', 'AC')), 'no server writes any')
  t.notOk(leavesResultsTo(servers('AC'), options('everything', 'AC')), 'the server writes no failures')
})
