/** Clients choose how much their actions ask for: what is unfinished is bounded by its bytes, in the queue and at servers that forward. */
import t from 'tap'
import { ManualClock } from '../../src/base/clock.js'
import { Ledger } from '../../src/ledger/ledger.js'
import { Digest } from '../../src/reapi/digest.js'
import { digestFunctions } from '../../src/reapi/digest-function.js'
import { operationName } from '../../src/reapi/operation-name.js'
import { HeldOperations } from '../../src/scheduler/fronts/held-operations.js'
import { OPERATION_BYTES, operationBytes } from '../../src/scheduler/request-size.js'
import type { ExecutionRequest } from '../../src/scheduler/scheduler.js'
import { Bench, response } from './bench.js'

const MIB = 1024 * 1024

const asking = (text: string, instanceName = ''): ExecutionRequest => ({
  ...{ instanceName, actionDigest: Digest.of(Buffer.from(text), digestFunctions.SHA256), priority: 0, invocation: '' },
  properties: [{ name: 'label', value: text }],
  ...{ doNotCache: true, skipCacheLookup: true },
})

t.test(
  'a queue of actions that ask for much is refused before it fills the memory, and room comes back with each end',
  (t) => {
    const ledger = new Ledger({ operations: 2 * MIB })
    const bench = new Bench({}, ledger)
    const open = (id: number, instanceName = ''): string => {
      const request = asking('x'.repeat(100_000), instanceName)
      const name = operationName(instanceName, `Q/${id}`)
      bench.do(bench.machine.open(bench.nowMs, name, instanceName, request.actionDigest, operationBytes(request)))
      bench.do(bench.machine.enqueue(bench.nowMs, name, request))
      return name
    }
    const names = Array.from({ length: 5 }, (_, id) => open(id))
    t.throws(() => open(5), { code: 8, message: /the memory limit of the server for operations is reached/ })
    t.ok(open(6, 'other'), 'half of it is left for other instances')
    t.ok(ledger.kinds.operations.heldBytes > 1_200_000, 'two bytes a character')
    for (const name of names) bench.do(bench.machine.cancel(bench.nowMs, name))
    const left = ledger.kinds.operations.heldBytes
    t.ok(left < 250_000 && left > 200_000, `${left} bytes are left for one`)
    const again = open(7)
    bench.worker('w')
    const started = bench.commands.find((command) => command.kind === 'start' && command.start.operationName === again)
    const attemptId = started?.kind === 'start' ? started.start.attemptId : ''
    bench.do(bench.machine.report(bench.nowMs, 'w', attemptId, response, { isConfined: false }))
    const settle = bench.commands.find((command) => command.kind === 'settle' && command.executionId === again)
    t.ok(settle)
    bench.do(bench.machine.settled(bench.nowMs, again, { response }))
    t.equal(ledger.kinds.operations.heldBytes, left, 'a result gives it back too')
    t.end()
  },
)

t.test(
  'a server that forwards holds so much and no more, also for clients that ask for unknown operations',
  async (t) => {
    const ledger = new Ledger({ operations: 64 * OPERATION_BYTES })
    const held = new HeldOperations({
      ...{ ledger, clock: new ManualClock(), send: async () => {} },
      nameOf: (instanceName, id) => operationName(instanceName, `F/${id}`),
    })
    t.teardown(() => held.close())
    const begin = (id: number): string => held.begin({ id: `a${id}` }, asking(`${id}`))
    const full = { code: 8, message: /the memory limit of the server for operations is reached/ }
    const names = Array.from({ length: 30 }, (_, id) => begin(id))
    t.throws(() => held.begin({ id: 'much' }, asking('x'.repeat(3000))), full)
    const stop = new AbortController()
    const waits = names.slice(0, 1).map((name) => held.watch(name, stop.signal).next())
    await Promise.all(waits)
    await t.rejects(held.watch(operationName('', 'F/unknown'), stop.signal).next(), full, 'the same bound')
    for (const name of names) held.end(name, new Error('over') as never)
    stop.abort()
    t.equal(ledger.kinds.operations.heldBytes, 0, 'nothing is left behind')
  },
)
