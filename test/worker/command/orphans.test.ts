import { execFileSync, spawn } from 'node:child_process'
import { once } from 'node:events'
import { existsSync, mkdirSync, readFileSync } from 'node:fs'
import t, { type Test } from 'tap'
import { systemClock } from '../../../src/base/clock.js'
import { silentLog } from '../../../src/log/log.js'
import { Launcher } from '../../../src/worker/command/launcher.js'
import { Leftovers } from '../../../src/worker/command/leftovers.js'
import { Orphans } from '../../../src/worker/command/orphans.js'
import { PrintedFiles } from '../../../src/worker/disk/printed-files.js'
import { during, until } from '../../until.js'
import { deepest } from '../disk/deep.js'

const launcher = new Launcher(silentLog)
const orphans = Orphans.adopted(launcher.libc)
t.teardown(() => launcher.close())

/** A process in its own session, in `/`, with no open files and an ended parent. Prints its pid, then runs `script`. */
const away = (script: string): string =>
  `exec 3>&1; (setsid sh -c 'cd /; echo $$ >&3; exec 3>&- </dev/null >/dev/null 2>&1; ${script}' &) ; sleep 0.2`

const isAlive = (pid: number): boolean => {
  try {
    return !/^State:\s+Z/m.test(readFileSync(`/proc/${pid}/status`, 'utf8'))
  } catch {
    return false
  }
}

const setUp = (t: Test) => {
  const cwd = t.testdir({})
  const leftovers = new Leftovers(cwd, systemClock, silentLog, orphans)
  t.teardown(() => leftovers.close())
  const start = (script: string) => {
    const printed = new PrintedFiles(cwd)
    const running = leftovers.starting([cwd])
    const { outcome, kill } = launcher.launch(
      { argv: ['/bin/sh', '-c', script], cwd, environment: [['PATH', '/bin:/usr/bin']], ...printed },
      (pid) => {
        running.processGroup = pid
      },
    )
    const ended = outcome.then(() => {
      leftovers.ended(running)
      const pid = Number(readFileSync(`/proc/self/fd/${printed.stdout}`, 'utf8').trim())
      printed.close()
      return pid
    })
    return { ended, kill, outcome }
  }
  return { cwd, leftovers, start }
}

const skip = orphans === undefined && 'this system does not give away orphans'

t.test(
  'a double-forked process with another session and directory and no open files is killed after the action',
  { skip },
  async (t) => {
    const { leftovers, start } = setUp(t)
    const pid = await start(away('exec sleep 1000')).ended
    t.ok(isAlive(pid), 'the process escaped')
    leftovers.look()
    await until(() => !isAlive(pid))
  },
)

t.test('a process that forks endlessly is killed with all its children', { skip }, async (t) => {
  const { leftovers, start } = setUp(t)
  const pid = await start(away('while :; do setsid sleep 1000 & sleep 0.01; done')).ended
  await until(() => {
    leftovers.look()
    return !isAlive(pid)
  }, 'the end of a process that forks endlessly')
  leftovers.look()
  // A killed process may take some time to end.
  await until(
    () =>
      !(
        orphans !== undefined &&
        orphans.kill({ running: new Map(), startingSinceMs: Number.POSITIVE_INFINITY }).length > 0
      ),
  )
})

/** A process in the work directory that is not a descendant of the worker. */
const beside = async (t: Test, cwd: string, wrap: (script: string) => string): Promise<number> => {
  mkdirSync(`${cwd}/run`)
  const script = wrap(`'cd ${cwd}/run; echo $$; exec sleep 1000'`)
  const parent = spawn('/bin/sh', ['-c', script], { cwd: '/', stdio: ['ignore', 'pipe', 'ignore'] })
  t.teardown(() => parent.kill('SIGKILL'))
  const [said] = await once(parent.stdout, 'data')
  const pid = Number(String(said).trim())
  t.ok(pid > 0)
  t.teardown(() => {
    if (isAlive(pid)) process.kill(pid, 'SIGKILL')
  })
  return pid
}

t.test('the end of an action does not check every process of the machine', { skip }, async (t) => {
  const { cwd, leftovers, start } = setUp(t)
  const pid = await beside(t, cwd, (script) => `setsid sh -c ${script} & wait`)
  await start('echo').ended
  leftovers.look()
  t.ok(isAlive(pid), 'only such a look would have found it')
  leftovers.sweep()
  await until(() => !isAlive(pid))
})

const noTerminal = !existsSync('/usr/bin/script') && 'needs script(1)'
t.test("an operator's shell in a work directory is left alone", { skip: skip || noTerminal }, async (t) => {
  const { cwd, leftovers, start } = setUp(t)
  const pid = await beside(t, cwd, (script) => `script -qec ${script} /dev/null`)
  const stray = await start(away('exec sleep 1000')).ended
  leftovers.sweep()
  await until(() => !isAlive(stray))
  t.ok(isAlive(pid))
})

t.test('processes of a running command are not killed before it ends', { skip }, async (t) => {
  const { leftovers, start } = setUp(t)
  const long = start(`${away('exec sleep 1000')}; exec sleep 1000`)
  const short = await start(away('exec sleep 1000')).ended
  leftovers.look()
  t.ok(isAlive(short), 'it is younger than a running command and may belong to it')
  long.kill()
  const other = await long.ended
  leftovers.look()
  await until(() => !(isAlive(short) || isAlive(other)))
})

t.test('a program that is being started is not treated as an orphan and keeps its exit code', { skip }, async (t) => {
  const { leftovers, start } = setUp(t)
  for (let round = 0; round < 30; round++) {
    const { outcome, ended } = start('exit 7')
    await during(ended, () => leftovers.look())
    t.match(await outcome, { kind: 'ended', exitCode: 7, wasKilled: false })
  }
})

t.test('an orphan is distinguished from a command that is being started', { skip }, async (t) => {
  const { leftovers, start } = setUp(t)
  const quiet = start('exit 0')
  t.ok(await leftovers.areNone(), 'a command that starts')
  await quiet.ended
  const pid = await start(away('exec sleep 1000')).ended
  const other = start('exit 0')
  t.notOk(await leftovers.areNone(), 'a command that starts beside one that got away')
  await other.ended
  leftovers.look()
  await until(() => !isAlive(pid))
})

t.test('a process whose directory has no valid path does not stop the search for others', async (t) => {
  const { cwd, leftovers, start } = setUp(t)
  const deep = deepest(cwd, 50, 'x'.repeat(100))
  const stranger = spawn('sleep', ['1000'], { cwd: `${deep.at}/.`, stdio: 'ignore' })
  await once(stranger, 'spawn')
  deep.close()
  try {
    const pid = await start('setsid sleep 1000 & echo $!').ended
    leftovers.sweep()
    await until(() => !isAlive(pid))
    t.pass('it was found and killed')
  } finally {
    stranger.kill('SIGKILL')
    execFileSync('rm', ['-rf', `${cwd}/${'x'.repeat(100)}`])
  }
})
