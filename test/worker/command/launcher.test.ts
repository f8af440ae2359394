import { closeSync, openSync, readFileSync, watch } from 'node:fs'
import { join } from 'node:path'
import t, { type Test } from 'tap'
import { silentLog } from '../../../src/log/log.js'
import { Launcher } from '../../../src/worker/command/launcher.js'
import { loadLibc } from '../../../src/worker/command/libc.js'
import { until } from '../../until.js'

const setUp = (t: Test) => {
  const cwd = t.testdir()
  const launcher = new Launcher(silentLog)
  t.teardown(() => launcher.close())
  let launches = 0
  return {
    cwd,
    launcher,
    launch: (script: string, onStart: (pid: number) => void = () => {}) => {
      const name = `run${++launches}`
      const stdout = openSync(join(cwd, `${name}.out`), 'wx')
      t.teardown(() => closeSync(stdout))
      const argv = ['/bin/sh', '-c', script]
      return launcher.launch({ argv, cwd, environment: [], stdout, stderr: stdout }, onStart)
    },
  }
}

/** Runs `script` until its `touch`. Returns its process group. */
const running = async (
  { cwd, launch }: Pick<ReturnType<typeof setUp>, 'cwd' | 'launch'>,
  script = 'touch here; sleep 1000',
) => {
  const watcher = watch(cwd)
  const touched = new Promise<void>((resolve) => watcher.on('change', (_, name) => name === 'here' && resolve()))
  let tell: (pid: number) => void = () => {}
  const started = new Promise<number>((resolve) => {
    tell = resolve
  })
  const launched = launch(script, tell)
  // The file may exist before the launcher's callback.
  const [pid] = await Promise.all([started, touched])
  watcher.close()
  return { ...launched, pid }
}

const isAlive = (pid: number): boolean => {
  try {
    return !/^State:\s+Z/m.test(readFileSync(`/proc/${pid}/status`, 'utf8'))
  } catch {
    return false
  }
}

/** Waits for the end of a process. A survivor lets the test run into its timeout. */
const untilDead = async (pid: number): Promise<void> => {
  await until(() => !isAlive(pid))
}

t.test('programs run side by side, each with its own outcome', async (t) => {
  const { launch } = setUp(t)
  const codes = Array.from({ length: 20 }, (_, index) => index)
  const outcomes = await Promise.all(codes.map((code) => launch(`exit ${code}`).outcome))
  t.match(
    outcomes,
    codes.map((exitCode) => ({ kind: 'ended', exitCode, wasKilled: false })),
  )
})

t.test('a kill ends the group, and has no effect after the program has ended', async (t) => {
  const parts = setUp(t)
  const { outcome, kill } = await running(parts)
  kill()
  t.match(await outcome, { kind: 'ended', exitCode: 137, wasKilled: true })
  kill()
  const other = parts.launch('exit 4')
  t.match(await other.outcome, { exitCode: 4, wasKilled: false })
})

t.test('a kill also ends a program that is being started', async (t) => {
  const { launch, launcher } = setUp(t)
  const [killed, closed, other] = [launch('sleep 1000'), launch('sleep 1000'), launch('exit 4')]
  killed.kill()
  t.match(await killed.outcome, { kind: 'ended', exitCode: 137, wasKilled: true })
  t.match(await other.outcome, { exitCode: 4, wasKilled: false })
  launcher.close()
  t.match(await closed.outcome, { kind: 'ended', exitCode: 137, wasKilled: true })
})

t.test('closing ends running programs, and nothing starts afterwards', async (t) => {
  const parts = setUp(t)
  const { pid, outcome } = await running(parts, 'sleep 1000 & touch here; sleep 1000')
  parts.launcher.close()
  t.match(await outcome, { kind: 'ended', exitCode: 137, wasKilled: true })
  await untilDead(pid)
  t.throws(() => parts.launch('exit 0'), { code: 14, message: /the worker is closed/ })
})

t.test(
  'resource usage includes the children that a program waited for',
  { skip: loadLibc() === undefined },
  async (t) => {
    const { launch } = setUp(t)
    const script = 'i=0; while [ $i -lt 200000 ]; do i=$((i+1)); done'
    const idle = await launch('sleep 0.2').outcome
    const busy = await launch(`sh -c '${script}'; exit 3`).outcome
    if (idle.kind !== 'ended' || busy.kind !== 'ended') throw new Error('nothing started')
    t.equal(busy.exitCode, 3)
    t.ok((busy.usage?.userMs ?? 0) > (idle.usage?.userMs ?? 0))
    t.equal(busy.usage?.peakResidentBytes, undefined, 'its peak is unknown, because it is below that of this process')
    const bytes = process.resourceUsage().maxRSS * 1024 + 50_000_000
    const large = await launch(`head -c ${bytes} /dev/zero | tail -c ${bytes} > /dev/null`).outcome
    const peak = (large.kind === 'ended' && large.usage?.peakResidentBytes) || 0
    t.ok(peak > bytes && peak < bytes + 50_000_000, `${peak} bytes, of them ${bytes} of one buffer`)
  },
)

t.test('a failed start has a reason', async (t) => {
  const { launcher, cwd } = setUp(t)
  const program = { argv: ['/nosuch'], cwd, environment: [], stdout: 1, stderr: 2 }
  t.match(await launcher.launch(program, () => t.fail()).outcome, { kind: 'failed', errno: 'ENOENT' })
})
