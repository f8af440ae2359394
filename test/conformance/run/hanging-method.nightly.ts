import t from 'tap'
import { instead } from '../../../conformance/mutate/mutation.js'
import { MutatingProxy } from '../../../conformance/mutate/proxy/proxy.js'
import type { ReportDocument } from '../../../conformance/report/document.js'
import * as methods from '../../../conformance/wire/methods.js'
import { conformance } from '../program.js'
import { startServer } from '../server.js'

// For changes in: conformance

// One method that never answers, beside others that work: the run goes on, says so, and ends.
// Rows with short deadlines and less than the usual patience, because each unanswered call is waited for.

t.setTimeout(180_000)
const address = await startServer(t)
t.jobs = 2

const HANGING: readonly (readonly [methods.Method<methods.Any, methods.Any>, string])[] = [
  [methods.write, 'BSW-01,BSW-02,BSW-03,BSW-04,BSW-12,BRB-01,BRB-02,BUB-01,BUB-02,FMB-01,FMB-02,FMB-03,DIG-12'],
  [methods.execute, 'EXE-12,EXE-18,EXE-31,CAP-01,CAP-04,FMB'],
]

for (const [method, only] of HANGING) {
  t.test(`${method.name} hangs`, async (t) => {
    const tamper = () => instead(method, () => 'silence')
    const proxy = await MutatingProxy.listen(address, { name: 'hanging', breaks: '', caughtBy: [], tamper })
    t.teardown(() => proxy.close())
    const impatient = ['--quiet', '--format', 'json', '--patience', '0.3']
    const { code, stdout, stderr } = await conformance(proxy.address, ...impatient, '--only', only)
    t.equal(code, 1, 'examined to the end')
    t.equal(stderr, `${proxy.address}: ${method.name} does not answer: its last calls got no response\n`)
    const { results, summary } = JSON.parse(stdout) as ReportDocument
    t.ok(summary.pass >= 8, `the rest is judged: ${summary.pass} pass`)
    const failed = results.filter(({ verdict }) => verdict === 'fail')
    t.ok(failed.some(({ rpc, reason }) => rpc.includes(method.name) && /DEADLINE_EXCEEDED|did not answer/.test(reason)))
    t.equal(summary.broken, 0)
  })
}
