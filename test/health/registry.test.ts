import t from 'tap'
import type { HealthProbe, HealthStatus } from '../../src/base/health.js'
import { HealthRegistry, type HealthReport, isHealthy } from '../../src/health/registry.js'
import { silentLog, textLog } from '../../src/log/log.js'

const probe = (name: string, check: (signal: AbortSignal) => Promise<HealthStatus>): HealthProbe => ({
  namespace: `/stores/${name}`,
  component: `stores/${name}`,
  structName: 'ProbeStore',
  check,
})

const ok = async (): Promise<HealthStatus> => ({ state: 'Ok', message: 'works' })

t.test('a report has one element for each component, sorted, in the form of the specification', async (t) => {
  const registry = new HealthRegistry()
  registry.register(probe('b', ok))
  registry.register(probe('a', async () => ({ state: 'Warning', message: 'nearly full' })))
  const reports = await registry.report(1_000)
  t.strictSame(reports, [
    {
      namespace: '/stores/a',
      component: 'stores/a',
      status: { Warning: { struct_name: 'ProbeStore', message: 'nearly full' } },
    },
    { namespace: '/stores/b', component: 'stores/b', status: { Ok: { struct_name: 'ProbeStore', message: 'works' } } },
  ])
  t.ok(isHealthy(reports))
})

t.test('a probe that throws is Failed with its reason, and the whole is not healthy', async (t) => {
  const registry = new HealthRegistry()
  registry.register(probe('a', () => Promise.reject(new Error('disk on fire'))))
  const reports = await registry.report(1_000)
  t.strictSame(reports[0]?.status, {
    Failed: { struct_name: 'ProbeStore', message: 'the health check failed', error: 'disk on fire' },
  })
  t.notOk(isHealthy(reports))
})

t.test('a silent probe is Timeout, is aborted, and does not delay the others', async (t) => {
  const registry = new HealthRegistry()
  let isToldToStop = false
  registry.register(
    probe('slow', (signal) => {
      signal.addEventListener('abort', () => {
        isToldToStop = true
      })
      return new Promise(() => {})
    }),
  )
  registry.register(probe('fast', ok))
  const reports = await registry.report(20)
  t.strictSame(
    reports.map(({ status }) => status),
    [{ Ok: { struct_name: 'ProbeStore', message: 'works' } }, { Timeout: { struct_name: 'ProbeStore' } }],
  )
  t.ok(isToldToStop)
  t.notOk(isHealthy(reports))
})

t.test('an expected component is Initializing, and the whole is healthy', async (t) => {
  const registry = new HealthRegistry()
  registry.expect({ namespace: '/stores/a', component: 'stores/a', structName: 'memory' })
  const reports = await registry.report(1_000)
  t.strictSame(reports, [
    {
      namespace: '/stores/a',
      component: 'stores/a',
      status: { Initializing: { struct_name: 'memory', message: 'it is starting' } },
    },
  ])
  t.ok(isHealthy(reports))
  registry.register(probe('a', ok))
  t.strictSame(
    (await registry.report(1_000)).map(({ status }) => status),
    [{ Ok: { struct_name: 'ProbeStore', message: 'works' } }],
    'and is itself once it has',
  )
})

t.test('no components: an empty, healthy report', async (t) => {
  t.strictSame(await new HealthRegistry().report(10), [])
  t.ok(isHealthy([]))
})

t.test("a change of a component's state is logged once", async (t) => {
  const lines: string[] = []
  const registry = new HealthRegistry(
    textLog(
      'info',
      (line) => lines.push(line.slice(line.indexOf(' ') + 1)),
      () => 0,
    ),
    { freshMs: 0 },
  )
  let status: Promise<HealthStatus> = ok()
  registry.register(probe('a', () => status))
  registry.register(probe('b', ok))
  const said = async (next: Promise<HealthStatus>): Promise<string[]> => {
    status = next
    await Promise.all([registry.report(20), registry.report(20)])
    // A silent component is logged when its check times out.
    await new Promise((resolve) => setTimeout(resolve, 40))
    return lines.splice(0)
  }
  const fine = { message: 'fine' }
  const failed = Promise.resolve({ ...fine, state: 'Failed', message: 'no', error: 'full' } as const)
  t.same(await said(Promise.resolve({ ...fine, state: 'Initializing' })), [], 'what only begins is not told')
  t.same(await said(failed), ['error a component does not work component=stores/a state=Failed reason="no: full"\n'])
  t.same(await said(new Promise(() => {})), [], 'still not')
  t.same(await said(Promise.resolve({ ...fine, state: 'Warning' })), [
    'info  a component works again component=stores/a state=Warning reason=fine\n',
  ])
  t.match(await said(new Promise(() => {})), [/state=Timeout reason="no answer in time"/])
  t.match(await said(ok()), [/info {2}a component works again component=stores\/a state=Ok\n/])
  t.match(await said(Promise.resolve({ ...fine, state: 'Warning' })), [
    /warn {2}a component works, but not as it should/,
  ])
  t.match(await said(ok()), [/info {2}a component changed its state component=stores\/a state=Ok\n/])
})

t.test('lately returns the last answer of a slow component, and the new one once it is there', async (t) => {
  const registry = new HealthRegistry(silentLog, { freshMs: 0 })
  const answers: ((status: HealthStatus) => void)[] = []
  const slow = probe('far', () => new Promise((resolve) => answers.push(resolve)))
  registry.register(slow)
  const state = async (timeoutMs = 5_000) => Object.keys((await registry.lately(timeoutMs))[0]?.status ?? {})[0]
  const answer = async (status: Promise<HealthStatus>): Promise<void> => answers.pop()?.(await status)
  const first = state()
  await answer(ok())
  t.equal(await first, 'Ok', 'waited for: nothing was known')
  t.equal(await state(), 'Ok', 'as it was')
  t.equal(await state(), 'Ok')
  t.equal(answers.length, 1, 'asked once at a time')
  const told: boolean[] = []
  registry.onReport((isFine) => told.push(isFine))
  await answer(Promise.resolve({ state: 'Failed', message: 'no', error: 'away' }))
  await new Promise(setImmediate)
  t.equal(told.at(-1), false, 'whoever watches hears of it at once')
  t.equal(await state(), 'Failed')
  await answer(ok())
  await new Promise(setImmediate)
  t.equal(await state(20), 'Ok')
  await new Promise((resolve) => setTimeout(resolve, 60))
  t.equal(await state(), 'Timeout', 'the one that never answered')
})

t.test('lately asks a working component once a second, a broken one each time', async (t) => {
  const registry = new HealthRegistry(silentLog, { freshMs: 60_000 })
  let asked = 0
  let status: HealthStatus = { state: 'Failed', message: 'no', error: 'full' }
  registry.register(
    probe('a', async () => {
      asked++
      return status
    }),
  )
  const state = async () => Object.keys((await registry.lately(1_000))[0]?.status ?? {})[0]
  for (let times = 0; times < 3; times++) t.equal(await state(), 'Failed')
  t.equal(asked, 3)
  status = { state: 'Ok', message: 'works' }
  for (let times = 0; times < 3; times++) t.equal(await state(), 'Ok')
  t.equal(asked, 4)
  status = { state: 'Failed', message: 'no', error: 'full' }
  t.equal(await state(), 'Ok', 'as it was a moment ago')
  const [report] = await registry.report(1_000)
  t.match(report?.status, { Failed: { error: 'full' } }, 'a report asks it')
  t.equal(await state(), 'Failed', 'and what it said is known')
})

t.test('report uses only checks that started after the call', async (t) => {
  const registry = new HealthRegistry()
  const answers: ((status: HealthStatus) => void)[] = []
  registry.register(probe('far', () => new Promise((resolve) => answers.push(resolve))))
  const answer = async (state: 'Ok' | 'Warning'): Promise<void> => {
    t.equal(answers.length, 1, 'asked once at a time')
    answers.pop()?.({ state, message: 'here' })
    while (answers.length === 0) await new Promise(setImmediate)
  }
  const stateOf = async (asked: Promise<readonly HealthReport[]>) => Object.keys((await asked)[0]?.status ?? {})[0]
  const before = registry.report(5_000)
  const [one, other] = [registry.report(5_000), registry.report(5_000)]
  await answer('Ok')
  t.equal(await stateOf(before), 'Ok')
  const late = registry.report(5_000)
  await answer('Warning')
  for (const asked of [one, other]) t.equal(await stateOf(asked), 'Warning')
  const impatient = registry.report(20)
  t.equal(await stateOf(impatient), 'Timeout', 'no later than asked for, though the question before may take longer')
  answers.pop()?.({ state: 'Ok', message: 'here' })
  t.equal(await stateOf(late), 'Ok')
  t.equal(await stateOf(registry.report(20)), 'Timeout', 'though it worked a moment ago')
})
