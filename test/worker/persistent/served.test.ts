import t from 'tap'
import { noWorkers, type Protocol, setUp } from './set-up.js'

for (const protocol of ['proto', 'json'] satisfies Protocol[]) {
  t.test(`requests are answered by one process (${protocol})`, { skip: noWorkers }, async (t) => {
    const { runTool, pool } = await setUp(t)
    const first = await runTool({ protocol, steps: ['facts out', 'say hello', 'complain unseen'] })
    const second = await runTool({ protocol, steps: ['facts out', 'exit 3'] })
    const [pid, count] = (first.out ?? '').split(' ')
    t.equal(count, '1')
    t.equal(second.out, `${pid} 2`, 'the same process')
    t.equal(first.stderr, 'hello\n', 'what the answer says is stderr')
    t.equal(second.exitCode, 3, 'its exit code is that of the action')
    t.match(first.process, { process: /^[0-9a-f]{16}$/, processRequest: 1 })
    t.match(second.process, { process: first.process.process, processRequest: 2 })
    t.match(pool.counts, { started: 1, reused: 1, retried: 0 })
  })
}
