import t from 'tap'
import { ManualClock } from '../../src/base/clock.js'
import type { HealthProbe, HealthStatus } from '../../src/base/health.js'
import { HealthRegistry } from '../../src/health/registry.js'
import { type HealthReport, isHealthy } from '../../src/health/report.js'
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

t.test('an optional component that fails or is silent is a Warning, and the whole is healthy', async (t) => {
  const registry = new HealthRegistry()
  registry.register({ ...probe('fails', () => Promise.reject(new Error('no disk'))), isOptional: true })
  registry.register({ ...probe('silent', () => new Promise(() => {})), isOptional: true })
  const reports = await registry.report(20)
  t.strictSame(
    reports.map(({ status }) => status),
    [
      { Warning: { struct_name: 'ProbeStore', message: 'the health check failed: no disk' } },
      { Warning: { struct_name: 'ProbeStore', message: 'no answer in time' } },
    ],
  )
  t.ok(isHealthy(reports))
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
  )
  let status: Promise<HealthStatus> = ok()
  registry.register(probe('a', () => status))
  registry.register(probe('b', ok))
  const said = async (next: Promise<HealthStatus>): Promise<string[]> => {
    status = next
    await Promise.all([registry.report(20), registry.report(20)])
    // A silent component is logged when its check times out.
    // biome-ignore lint/plugin: timers of one process end in the order of their times
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

/** Runs the checks that are due, and what follows from their answers. */
const advance = async (clock: ManualClock, byMs: number): Promise<void> => {
  clock.advance(byMs)
  await new Promise(setImmediate)
}

t.test('the last answers and their ages are known without asking', async (t) => {
  const clock = new ManualClock()
  const registry = new HealthRegistry(silentLog, clock)
  const answers: ((status: HealthStatus) => void)[] = []
  registry.register(probe('far', () => new Promise((resolve) => answers.push(resolve))))
  const known = () => registry.latest().map(({ report, ageMs }) => [Object.keys(report.status)[0], ageMs])
  const heard: boolean[] = []
  t.same(known(), [['Initializing', 0]])
  t.equal(answers.length, 0)
  t.teardown(registry.watch(5_000, (isHealthy) => heard.push(isHealthy)))
  t.equal(answers.length, 1, 'asked at once')
  await advance(clock, 30_000)
  t.equal(answers.length, 1, 'one check at a time')
  answers.pop()?.({ state: 'Ok', message: 'works' })
  await advance(clock, 0)
  t.same(known(), [['Ok', 0]])
  await advance(clock, 9_000)
  t.same(known(), [['Ok', 9_000]])
  t.equal(answers.length, 0)
  await advance(clock, 1_000)
  answers.pop()?.({ state: 'Failed', message: 'no', error: 'away' })
  await advance(clock, 0)
  t.same(known(), [['Failed', 0]])
  t.same(heard, [true, false])
  t.equal(answers.length, 0)
  await advance(clock, 1_000)
  answers.pop()?.(await ok())
  await advance(clock, 0)
  t.same(known(), [['Ok', 0]], 'a broken component is asked every second')
  t.same(heard, [true, false, true])
  registry.register(probe('new', () => new Promise((resolve) => answers.push(resolve))))
  t.equal(answers.length, 1, 'a new component is asked at once')
})

t.test('a component that is starting is asked every second, and none after the watch has ended', async (t) => {
  const clock = new ManualClock()
  const registry = new HealthRegistry(silentLog, clock)
  let asked = 0
  const starting = async (): Promise<HealthStatus> => {
    asked++
    return { state: 'Initializing', message: 'connecting' }
  }
  registry.register(probe('a', starting))
  const stop = registry.watch(5_000, () => {})
  await advance(clock, 0)
  for (let s = 0; s < 3; s++) await advance(clock, 1_000)
  t.equal(asked, 4)
  stop()
  registry.register(probe('b', starting))
  for (let s = 0; s < 3; s++) await advance(clock, 10_000)
  t.equal(asked, 4)
})

t.test('reports at the same time share one check, and none waits longer than its time', async (t) => {
  const registry = new HealthRegistry()
  const answers: ((status: HealthStatus) => void)[] = []
  registry.register(probe('far', () => new Promise((resolve) => answers.push(resolve))))
  const stateOf = async (asked: Promise<readonly HealthReport[]>) => Object.keys((await asked)[0]?.status ?? {})[0]
  const patient = [registry.report(5_000), registry.report(5_000)]
  t.equal(await stateOf(registry.report(20)), 'Timeout')
  t.equal(answers.length, 1)
  answers.pop()?.({ state: 'Ok', message: 'here' })
  for (const asked of patient) t.equal(await stateOf(asked), 'Ok')
  t.equal(await stateOf(registry.report(20)), 'Timeout', 'a new check, though it worked a moment ago')
})

t.test(
  'nested components with one trouble are one line of the log, until they are in trouble by themselves',
  async (t) => {
    const lines: string[] = []
    const registry = new HealthRegistry(textLog('info', (line) => lines.push(line)))
    const away = (message: string): HealthStatus => ({ state: 'Failed', message, error: 'ECONNREFUSED' })
    let [inner, outer]: HealthStatus[] = [away('no connection'), away('slow: no connection')]
    registry.register(probe('CAS', async () => outer as HealthStatus))
    registry.register(probe('CAS/slow', async () => inner as HealthStatus))
    registry.register(probe('AC', async () => away('no connection')))
    const said = async (): Promise<string[]> => {
      await registry.report(1_000)
      return lines.splice(0).map((line) => line.replace(/.*component=(\S+) state=(\w+).*\n/, '$1 $2'))
    }
    t.same((await said()).map((line) => line.replace('/slow', '')).sort(), ['stores/AC Failed', 'stores/CAS Failed'])
    t.same(await said(), [], 'no second line')
    outer = await ok()
    inner = away('the disk is full')
    t.same((await said()).sort(), ['stores/CAS Ok', 'stores/CAS/slow Failed'], 'what is left is told')
    inner = await ok()
    t.same(await said(), ['stores/CAS/slow Ok'])
  },
)
