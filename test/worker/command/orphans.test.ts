import { execFileSync, spawn } from 'node:child_process'
import { once } from 'node:events'
import { existsSync, mkdirSync, readFileSync } from 'node:fs'
import { setImmediate } from 'node:timers/promises'
import t, { type Test } from 'tap'
import { systemClock } from '../../../src/base/clock.js'
import { silentLog } from '../../../src/log/log.js'
import { Launcher } from '../../../src/worker/command/launcher.js'
import { Leftovers } from '../../../src/worker/command/leftovers.js'
import { Orphans } from '../../../src/worker/command/orphans.js'
import { PrintedFiles } from '../../../src/worker/disk/printed-files.js'
import { deepest } from '../disk/deep.js'

const launcher = new Launcher(silentLog)
const orphans = Orphans.adopted(launcher.libc)
t.teardown(() => launcher.close())

/** In a session of its own, in `/`, without anything open, its parent gone: says its number, then does `script`. */
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

t.test('a double fork with another session, directory and nothing open survives no action', { skip }, async (t) => {
  const { leftovers, start } = setUp(t)
  const pid = await start(away('exec sleep 1000')).ended
  t.ok(isAlive(pid), 'it got away')
  leftovers.look()
  while (isAlive(pid)) await setImmediate()
})

t.test('one that forks on and on is ended with all it forks', { skip }, async (t) => {
  const { leftovers, start } = setUp(t)
  const pid = await start(away('while :; do setsid sleep 1000 & sleep 0.01; done')).ended
  while (isAlive(pid)) {
    leftovers.look()
    await setImmediate()
  }
  leftovers.look()
  // What was killed may take its time to end.
  while (
    orphans !== undefined &&
    orphans.kill({ running: new Set(), startingSinceMs: Number.POSITIVE_INFINITY }).length > 0
  )
    await setImmediate()
})

/** Beside the worker and below its work directory: a child of a process that it did not start. */
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

t.test('the end of an action has no look at every process of the machine', { skip }, async (t) => {
  const { cwd, leftovers, start } = setUp(t)
  const pid = await beside(t, cwd, (script) => `setsid sh -c ${script} & wait`)
  await start('echo').ended
  leftovers.look()
  t.ok(isAlive(pid), 'only such a look would have found it')
  leftovers.sweep()
  while (isAlive(pid)) await setImmediate()
})

const noTerminal = !existsSync('/usr/bin/script') && 'needs script(1)'
t.test("an operator's shell in a work directory is left alone", { skip: skip || noTerminal }, async (t) => {
  const { cwd, leftovers, start } = setUp(t)
  const pid = await beside(t, cwd, (script) => `script -qec ${script} /dev/null`)
  const stray = await start(away('exec sleep 1000')).ended
  leftovers.sweep()
  while (isAlive(stray)) await setImmediate()
  t.ok(isAlive(pid))
})

t.test('what belongs to a command that runs is left alone, and goes with it', { skip }, async (t) => {
  const { leftovers, start } = setUp(t)
  const long = start(`${away('exec sleep 1000')}; exec sleep 1000`)
  const short = await start(away('exec sleep 1000')).ended
  leftovers.look()
  t.ok(isAlive(short), 'it is younger than a command that runs: it may be of that one')
  long.kill()
  const other = await long.ended
  leftovers.look()
  while (isAlive(short) || isAlive(other)) await setImmediate()
})

t.test('what is being started is nobody’s orphan, and its exit code is its own', { skip }, async (t) => {
  const { leftovers, start } = setUp(t)
  for (let round = 0; round < 30; round++) {
    const { outcome, ended } = start('exit 7')
    let isOver = false
    void ended.then(() => {
      isOver = true
    })
    while (!isOver) {
      leftovers.look()
      await setImmediate()
    }
    t.match(await outcome, { kind: 'ended', exitCode: 7, wasKilled: false })
  }
})

t.test('one that got away is told from a command that is being started', { skip }, async (t) => {
  const { leftovers, start } = setUp(t)
  const quiet = start('exit 0')
  t.ok(await leftovers.areNone(), 'a command that starts')
  await quiet.ended
  const pid = await start(away('exec sleep 1000')).ended
  const other = start('exit 0')
  t.notOk(await leftovers.areNone(), 'a command that starts beside one that got away')
  await other.ended
  leftovers.look()
  while (isAlive(pid)) await setImmediate()
})

t.test('a process whose directory no path leads to does not stop the search for others', async (t) => {
  const { cwd, leftovers, start } = setUp(t)
  const deep = deepest(cwd, 50, 'x'.repeat(100))
  const stranger = spawn('sleep', ['1000'], { cwd: `${deep.at}/.`, stdio: 'ignore' })
  await once(stranger, 'spawn')
  deep.close()
  try {
    const pid = await start('setsid sleep 1000 & echo $!').ended
    leftovers.sweep()
    while (isAlive(pid)) await setImmediate()
    t.pass('it was found and ended')
  } finally {
    stranger.kill('SIGKILL')
    execFileSync('rm', ['-rf', `${cwd}/${'x'.repeat(100)}`])
  }
})
