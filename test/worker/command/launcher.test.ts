import { readFileSync, watch } from 'node:fs'
import { join } from 'node:path'
import { setImmediate } from 'node:timers/promises'
import t, { type Test } from 'tap'
import { silentLog } from '../../../src/base/log.js'
import { Launcher } from '../../../src/worker/command/launcher.js'
import { loadLibc } from '../../../src/worker/command/libc.js'

/** Where there is none nothing is ever free. */
const canLease = loadLibc() !== undefined

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
      const files = { stdoutPath: join(cwd, `${name}.out`), stderrPath: join(cwd, `${name}.err`) }
      const argv = ['/bin/sh', '-c', script]
      return { ...launcher.launch({ argv, cwd, environment: [], ...files, reusesFiles: false }, onStart), ...files }
    },
  }
}

/** Runs `script` up to its `touch`, and tells its process group. */
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
  // The file may be there before the word of the launcher is.
  const [pid] = await Promise.all([started, touched])
  watcher.close()
  return { ...launched, pid }
}

const parentOf = (pid: number): number =>
  Number(/^PPid:\s+(\d+)/m.exec(readFileSync(`/proc/${pid}/status`, 'utf8'))?.[1])

const isAlive = (pid: number): boolean => {
  try {
    return !/^State:\s+Z/m.test(readFileSync(`/proc/${pid}/status`, 'utf8'))
  } catch {
    return false
  }
}

/** A survivor lets the test run into its timeout. */
const untilDead = async (pid: number): Promise<void> => {
  while (isAlive(pid)) await setImmediate()
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

t.test('a launcher that is ready is prepared at once, also for the second who asks', async (t) => {
  const { launch, launcher } = setUp(t)
  await launcher.prepare()
  await launcher.prepare()
  t.match(await launch('exit 0').outcome, { kind: 'ended' })
})

t.test('a kill ends the group, and means nothing once the program has ended', async (t) => {
  const parts = setUp(t)
  const { pid, outcome, kill } = await running(parts)
  t.not(parentOf(pid), process.pid, 'it is the child of another process')
  kill()
  t.match(await outcome, { kind: 'ended', exitCode: 137, wasKilled: true })
  kill()
  const other = parts.launch('exit 4')
  t.match(await other.outcome, { exitCode: 4, wasKilled: false })
})

t.test('when the launcher dies, its programs are killed and the next one finds a new launcher', async (t) => {
  const parts = setUp(t)
  const { pid, outcome } = await running(parts, 'sleep 1000 & touch here; sleep 1000')
  const lost = t.rejects(outcome, { code: 14, message: /the process that starts commands on this worker died/ })
  process.kill(parentOf(pid), 'SIGKILL')
  await lost
  await untilDead(pid)
  t.match(await parts.launch('exit 3').outcome, { kind: 'ended', exitCode: 3 })
})

t.test('a worker that closes or dies takes its programs with it', async (t) => {
  const parts = setUp(t)
  const { pid, outcome } = await running(parts)
  const lost = t.rejects(outcome, { code: 14 })
  parts.launcher.close()
  await lost
  await untilDead(pid)
  t.throws(() => parts.launch('exit 0'), { code: 14, message: /the worker is closed/ })
})

t.test('files are free when nothing was printed and nobody has them open', { skip: !canLease }, async (t) => {
  const { launch, launcher, cwd } = setUp(t)
  const first = launch('exit 0')
  t.match(await first.outcome, { areFilesFree: true })
  const { stdoutPath, stderrPath } = first
  const again = (script: string) => {
    const argv = ['/bin/sh', '-c', script]
    const request = { argv, cwd, environment: [], stdoutPath, stderrPath, reusesFiles: true }
    return launcher.launch(request, () => {}).outcome
  }
  t.match(await again('exit 0'), { areFilesFree: true })
  t.match(await again('echo x'), { areFilesFree: false })
  t.equal(readFileSync(stdoutPath, 'utf8'), 'x\n')
  t.match(await again('printf yyyy >&2; : > /dev/stdout; : > /dev/stderr'), { areFilesFree: true }, 'emptied again')
  const fled = `setsid sh -c 'echo $$ > pid; exec sleep 1000'`
  for (const files of ['>/dev/null', '2>/dev/null', '7>&1 >/dev/null 2>/dev/null', '7</dev/stdout >/dev/null 2>&1']) {
    const kept = launch(`rm -f pid; ${fled} ${files} & until [ -s pid ]; do :; done`)
    t.match(await kept.outcome, { exitCode: 0, areFilesFree: false }, `a process that fled has ${files}`)
    process.kill(Number(readFileSync(join(cwd, 'pid'), 'utf8')), 'SIGKILL')
  }
})

t.test('a file that was replaced, linked or made accessible is not free', { skip: !canLease }, async (t) => {
  const { launch } = setUp(t)
  for (const what of ['rm $f', 'rm $f; mkfifo $f', 'ln -sf other $f; : > other', 'ln $f other', 'chmod 666 $f']) {
    const { outcome } = launch(`rm -f other; f=$(readlink /proc/$$/fd/1); ${what}`)
    t.match(await outcome, { exitCode: 0, areFilesFree: false }, what)
  }
})

t.test('what is not started says at which step', async (t) => {
  const { launch, launcher, cwd } = setUp(t)
  const first = launch('exit 0')
  await first.outcome
  const { stdoutPath, stderrPath } = first
  const again = { argv: ['/bin/true'], cwd, environment: [], stdoutPath, stderrPath, reusesFiles: false }
  t.match(await launcher.launch(again, () => t.fail()).outcome, { kind: 'failed', attempted: 'open', errno: 'EEXIST' })
  const absent = { ...again, argv: ['/nosuch'], stdoutPath: join(cwd, 'o'), stderrPath: join(cwd, 'e') }
  t.match(await launcher.launch(absent, () => t.fail()).outcome, {
    kind: 'failed',
    attempted: 'spawn',
    errno: 'ENOENT',
  })
})
