import { once } from 'node:events'
import {
  chmodSync,
  closeSync,
  existsSync,
  mkdirSync,
  openSync,
  readFileSync,
  realpathSync,
  watch,
  writeFileSync,
} from 'node:fs'
import { join } from 'node:path'
import t, { type Test } from 'tap'
import { silentLog } from '../../../src/log/log.js'
import { commandEnvironment, type EnvironmentSource } from '../../../src/worker/command/environment.js'
import { Launcher } from '../../../src/worker/command/launcher.js'
import { type CommandRun, runCommand } from '../../../src/worker/command/run-command.js'
import { startFailure } from '../../../src/worker/command/sandbox.js'
import { until } from '../../until.js'

const launcher = new Launcher(silentLog)
t.teardown(() => launcher.close())

const setUp = (t: Test) => {
  const directory = t.testdir({ root: {} })
  const cwd = join(directory, 'root')
  let runs = 0
  return {
    cwd,
    run: async (argv: readonly string[], parts: Partial<CommandRun> = {}) => {
      const paths = [join(directory, `stdout${++runs}`), join(directory, `stderr${runs}`)] as const
      const [stdout, stderr] = paths.map((path) => openSync(path, 'wx')) as [number, number]
      const { signal } = new AbortController()
      const exit = await runCommand(
        { argv, cwd, environment: {}, stdout, stderr, timeoutMs: 60_000, graceMs: 300, signal, ...parts },
        launcher,
      )
      for (const file of [stdout, stderr]) closeSync(file)
      return { ...exit, stdout: readFileSync(paths[0], 'utf8'), stderr: readFileSync(paths[1], 'utf8') }
    },
  }
}

const sh = (script: string): string[] => ['/bin/sh', '-c', script]

/** A limit for commands that sleep, within which a shell has long begun and printed, however busy the machine is. */
const amplyMs = async ({ run }: ReturnType<typeof setUp>): Promise<number> => {
  const { durationMs } = await run(sh('trap "" TERM; echo before; sleep 0 & wait'))
  return Math.max(300, 20 * durationMs)
}

const script = (path: string, text: string): void => {
  writeFileSync(path, text)
  chmodSync(path, 0o755)
}

const isAlive = (pid: number): boolean => {
  try {
    // A zombie counts as dead here.
    return !/^State:\s+Z/m.test(readFileSync(`/proc/${pid}/status`, 'utf8'))
  } catch {
    return false
  }
}

/**
 * Waits for the end of a process, because the kernel delivers a kill asynchronously. A survivor lets the test run into
 * its timeout.
 */
const untilDead = async (pid: number): Promise<void> => {
  await until(() => !isAlive(pid))
}

t.test('CMD-01 arguments run without a shell, and the program may be absolute, relative or in PATH', async (t) => {
  const { run, cwd } = setUp(t)
  t.match(await run(['/bin/echo', '$HOME', '*', 'a b']), { exitCode: 0, end: 'exited', stdout: '$HOME * a b\n' })
  mkdirSync(join(cwd, 'tools'))
  script(join(cwd, 'tools/hello'), '#!/bin/sh\necho hello $1\n')
  t.match(await run(['tools/hello', 'you']), { exitCode: 0, stdout: 'hello you\n' }, 'relative to the cwd')
  t.match(await run(['hello'], { environment: { PATH: `/nosuch:${cwd}/tools` } }), { stdout: 'hello\n' }, 'in PATH')
  t.match(await run(['hello'], { environment: { PATH: 'tools' } }), { stdout: 'hello\n' }, 'in a relative PATH')
  t.match(await run(['hello']), { exitCode: 127 }, "not in this process's PATH")
})

t.test('CMD-02 the environment has only declared variables', async (t) => {
  const { run } = setUp(t)
  process.env['REMEXEC_TEST_SECRET'] = 'secret'
  // The test runner adds its own variables to each process that a test spawns.
  const variables = async (environment: Record<string, string>) =>
    (await run(['/usr/bin/env', '-0'], { environment })).stdout
      .split('\0')
      .filter((line) => !/^(_TAPJS|NODE_OPTIONS)/.test(line))
  t.same(await variables({}), [''])
  t.same(await variables({ A: '1', B: 'x y' }), ['A=1', 'B=x y', ''])
})

t.test('CMD-02 declared variables override configured ones', async (t) => {
  process.env['REMEXEC_TEST_HOME'] = 'here'
  const additional = new Map<string, EnvironmentSource>([
    ['REMEXEC_TEST_HOME', 'from_environment'],
    ['REMEXEC_TEST_ABSENT', 'from_environment'],
    ['T', 'timeout_millis'],
    ['S', 'side_channel_file'],
    ['D', 'action_directory'],
    ['P', { property: 'Pool' }],
    ['Q', { property: 'other' }],
    ['V', { value: 'literal' }],
    ['A', { value: 'lost' }],
  ])
  const command = { environmentVariables: [{ name: 'A', value: 'declared' }] }
  const facts = {
    defaultPath: '',
    timeoutMs: 5000,
    sideChannelPath: '/w/s',
    actionDirectory: '/w',
    properties: [{ name: 'Pool', value: 'big' }],
  }
  t.same(
    { ...commandEnvironment(command, additional, facts) },
    { REMEXEC_TEST_HOME: 'here', T: '5000', S: '/w/s', D: '/w', P: 'big', V: 'literal', A: 'declared' },
  )
})

t.test('a command that sets no PATH finds the programs of this machine', async (t) => {
  const facts = { defaultPath: '/opt/bin:/bin', timeoutMs: 1, sideChannelPath: '', actionDirectory: '', properties: [] }
  const pathOf = (declared: Record<string, string>, additional: ReadonlyMap<string, EnvironmentSource> = new Map()) => {
    const environmentVariables = Object.entries(declared).map(([name, value]) => ({ name, value }))
    return commandEnvironment({ environmentVariables }, additional, facts)['PATH']
  }
  t.equal(pathOf({}), '/opt/bin:/bin', 'no environment at all')
  t.equal(pathOf({ HOME: '/' }), '/opt/bin:/bin', 'an environment without PATH')
  t.equal(pathOf({ PATH: '/declared' }), '/declared')
  t.equal(pathOf({ PATH: '' }), '', 'an empty PATH is one that was set')
  t.equal(pathOf({}, new Map([['PATH', { value: '/configured' }]])), '/configured')
  t.equal(pathOf({}, new Map([['PATH', { property: 'absent' }]])), '/opt/bin:/bin')
  const none = commandEnvironment({ environmentVariables: [] }, new Map(), { ...facts, defaultPath: '' })
  t.same(Object.keys(none), [], 'no default, no variable')
})

t.test('a command inherits no descriptors of the launcher', { skip: !existsSync('/proc/self/stat') }, async (t) => {
  const { run, cwd } = setUp(t)
  const status = (await run(['/bin/cat', '/proc/self/status'])).stdout
  for (const field of ['SigIgn', 'SigBlk']) t.match(status, new RegExp(`^${field}:\\s+0+$`, 'm'))
  const [pid, , , , group, session] = (await run(['/bin/cat', '/proc/self/stat'])).stdout.split(' ')
  t.same([group, session], [pid, pid], 'it leads its own session')
  t.equal((await run(['/bin/readlink', '/proc/self/fd/0'])).stdout, '/dev/null\n')
  // Node manages inherited descriptors up to 15 itself. The process that started the tests may have left more open.
  const open = (await run(['/bin/ls', '/proc/self/fd'])).stdout.trim().split('\n').map(Number)
  t.same(
    open.filter((fd) => fd <= 15),
    [0, 1, 2, 3],
    'the three and the directory that is listed',
  )
  t.equal((await run(['/bin/pwd', '-P'])).stdout, `${realpathSync(cwd)}\n`)
})

t.test('EXE-23 the exit code is that of the command', async (t) => {
  const { run } = setUp(t)
  t.match(await run(sh('echo out; echo err >&2; exit 3')), { exitCode: 3, stdout: 'out\n', stderr: 'err\n' })
})

t.test('EXE-24 death by signal n is exit code 128+n', async (t) => {
  const { run } = setUp(t)
  t.match(await run(sh('kill -9 $$')), { exitCode: 137, end: 'exited' })
  t.match(await run(sh('kill -TERM $$')), { exitCode: 143, end: 'exited' })
  t.match(await run(sh('kill -SEGV $$')), { exitCode: 139, end: 'exited' })
})

t.test('a script without an interpreter is run by the shell', async (t) => {
  const { run, cwd } = setUp(t)
  script(join(cwd, 'bare'), 'echo "$0 $*"\n')
  t.match(await run(['./bare', 'a', 'b c']), { exitCode: 0, stdout: './bare a b c\n' })
  t.match(await run(['bare', 'x'], { environment: { PATH: `/nosuch:${cwd}` } }), { stdout: `${cwd}/bare x\n` })
})

t.test('a file in PATH that cannot be executed is skipped', async (t) => {
  const { run, cwd } = setUp(t)
  for (const folder of ['a', 'b']) mkdirSync(join(cwd, folder))
  writeFileSync(join(cwd, 'a/tool'), 'text')
  t.match(await run(['tool'], { environment: { PATH: 'a:b' } }), { exitCode: 126 })
  script(join(cwd, 'b/tool'), '#!/bin/sh\necho found\n')
  t.match(await run(['tool'], { environment: { PATH: 'a:b' } }), { exitCode: 0, stdout: 'found\n' })
})

t.test('EXE-25 a program that cannot be started is a result', async (t) => {
  const { run, cwd } = setUp(t)
  writeFileSync(join(cwd, 'plain'), 'text')
  script(join(cwd, 'orphan'), '#!/nosuch/interpreter\n')
  t.match(await run(['./nosuch']), { exitCode: 127, stderr: /cannot run "\.\/nosuch": there is no such program/ })
  t.match(await run(['nosuch']), { exitCode: 127 })
  t.match(await run(['./orphan']), { exitCode: 127 })
  t.match(await run(['./plain/x']), { exitCode: 127 })
  t.match(await run(['./plain']), { exitCode: 126, stderr: /not an executable file/ })
  t.match(await run([cwd]), { exitCode: 126 })
  t.match(await run(['/bin/echo', 'x'.repeat(1 << 18)]), { exitCode: 126, stderr: /too long for this machine/ })
})

t.test('CMD-24 stdin is empty', async (t) => {
  const { run } = setUp(t)
  t.match(await run(['/bin/cat']), { exitCode: 0, stdout: '' })
})

t.test('CMD-24 background children are killed when the command ends', async (t) => {
  const { run } = setUp(t)
  const { stdout, durationMs } = await run(sh('sleep 1000 & echo $!; (sleep 1000 & echo $!); exit 0'))
  const pids = stdout.trim().split('\n').map(Number)
  t.equal(pids.length, 2)
  t.ok(durationMs < 30_000)
  for (const pid of pids) await untilDead(pid)
})

t.test('EXE-26 a timeout kills the whole group and keeps printed output', async (t) => {
  const all = setUp(t)
  const timeoutMs = await amplyMs(all)
  const exit = await all.run(sh('trap "" TERM INT; echo before; sleep 1000 & echo $!; wait; sleep 1000'), { timeoutMs })
  t.match(exit, { end: 'timed out', exitCode: 137, stdout: /^before\n/ })
  t.ok(exit.durationMs >= timeoutMs - 1 && exit.durationMs < 500_000, `${exit.durationMs} ms of a thousand seconds`)
  await untilDead(Number(exit.stdout.trim().split('\n')[1]))
})

t.test('a command that runs out of time is asked to end first, and prints what it has to say', async (t) => {
  const all = setUp(t)
  const script = 'trap "echo dump; exit 3" TERM; echo started; while :; do sleep 0.05; done'
  const exit = await all.run(sh(script), { timeoutMs: await amplyMs(all), graceMs: 600_000 })
  t.match(exit, { end: 'timed out', exitCode: 3, stdout: 'started\ndump\n' })
  t.ok(exit.durationMs < 300_000, 'the grace ends with the group')
})

t.test('a process whose shell ends at once still has the grace', async (t) => {
  const all = setUp(t)
  const child = 'trap "sleep 0.3; echo dump; exit 0" TERM; echo started; while :; do sleep 0.05; done'
  const exit = await all.run(sh(`(${child}) & wait`), { timeoutMs: await amplyMs(all), graceMs: 600_000 })
  t.match(exit, { end: 'timed out', exitCode: 143, stdout: 'started\ndump\n' })
  t.ok(exit.durationMs < 300_000, 'the grace ends with the group')
})

t.test('without a grace a command that runs out of time is killed at once', async (t) => {
  const { run } = setUp(t)
  const exit = await run(sh('trap "echo dump" TERM; while :; do sleep 0.05; done'), { timeoutMs: 300, graceMs: 0 })
  t.match(exit, { end: 'timed out', exitCode: 137, stdout: '' })
})

t.test('a hurry ends the grace of what was asked to end, and touches no other command', async (t) => {
  const { run, cwd } = setUp(t)
  const [controller, hurry] = [new AbortController(), new AbortController()]
  const watcher = watch(cwd)
  const started = once(watcher, 'change').then(() => controller.abort())
  const deaf = run(sh('trap "echo asked; touch asked" TERM; touch started; while :; do sleep 0.05; done'), {
    signal: controller.signal,
    graceMs: 600_000,
    hurry: hurry.signal,
  })
  await started
  watcher.close()
  await until(() => existsSync(join(cwd, 'asked')))
  const other = run(sh('until test -e go; do sleep 0.05; done'), { hurry: hurry.signal })
  hurry.abort()
  t.match(await deaf, { end: 'killed', exitCode: 137, stdout: 'asked\n' })
  writeFileSync(join(cwd, 'go'), '')
  t.match(await other, { end: 'exited', exitCode: 0 })
})

t.test('an abort ends the command', async (t) => {
  const { run, cwd } = setUp(t)
  const controller = new AbortController()
  const watcher = watch(cwd)
  const started = once(watcher, 'change').then(() => controller.abort())
  t.match(await run(sh('touch started; sleep 1000'), { signal: controller.signal }), { end: 'killed', exitCode: 143 })
  await started
  watcher.close()
  t.match(await run(sh('touch late; sleep 1000'), { signal: controller.signal }), { end: 'killed' })
})

t.test('EXE-41 output of any size goes to the file', async (t) => {
  const { run } = setUp(t)
  const { stdout, exitCode } = await run(sh('head -c 10000000 /dev/zero'))
  t.equal(exitCode, 0)
  t.equal(stdout.length, 10_000_000)
})

t.test(
  'the reason of a sandbox that did not start is short enough for an error, however much it printed',
  async (t) => {
    const folder = t.testdir({ stderr: 'x'.repeat(100_000), status: '' })
    const [stderr, status] = ['stderr', 'status'].map((name) => openSync(join(folder, name), 'r')) as [number, number]
    t.equal(startFailure('/bin/true', { stderr, status })?.reason.length, 16_384)
    for (const file of [stderr, status]) closeSync(file)
  },
)
