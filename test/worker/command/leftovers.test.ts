import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { closeSync, existsSync, mkdirSync, openSync, unlinkSync } from 'node:fs'
import t from 'tap'
import { ManualClock } from '../../../src/base/clock.js'
import { silentLog } from '../../../src/log/log.js'
import { Leftovers } from '../../../src/worker/command/leftovers.js'

const skip = !existsSync('/proc/self/stat') && 'needs /proc'

t.test(
  'a confined command that is being started is no leftover, although it prints beside its directory',
  { skip },
  async (t) => {
    const work = t.testdir({ session: { a: {} } })
    const directory = `${work}/session/a`
    mkdirSync(`${directory}/root`)
    const killed: unknown[] = []
    const log = { ...silentLog, info: (_: string, fields?: unknown) => killed.push(fields) }
    const leftovers = new Leftovers(work, new ManualClock(), log)
    // A file without a name, in the folder of all actions.
    const path = `${work}/session/printed`
    const printed = openSync(path, 'w+')
    unlinkSync(path)
    const running = leftovers.starting([directory])
    const command = spawn('sleep', ['1000'], { detached: true, cwd: directory, stdio: ['ignore', printed, printed] })
    closeSync(printed)
    t.teardown(() => command.kill('SIGKILL'))
    await once(command, 'spawn')
    const ended = once(command, 'exit')
    // Its process is there, and nobody has been told its number.
    leftovers.sweep()
    t.equal(command.exitCode ?? command.signalCode, null)
    t.ok(command.kill(0), 'it runs on')
    running.processGroup = command.pid ?? 0
    leftovers.sweep()
    t.same(killed, [], 'nor once it has started')
    leftovers.ended(running)
    leftovers.sweep()
    t.same(await ended, [null, 'SIGKILL'], 'what is left of it after its end goes')
    t.same(killed, [{ pids: [command.pid] }])
    leftovers.close()
  },
)
