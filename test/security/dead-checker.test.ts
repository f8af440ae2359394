import { ChildProcess } from 'node:child_process'
import { readFileSync } from 'node:fs'
import { hashSync } from 'bcryptjs'
import t from 'tap'
import { systemClock } from '../../src/base/clock.js'
import { StatusError } from '../../src/base/status-error.js'
import { readCredential } from '../../src/security/identity/credential.js'
import { Passwords } from '../../src/security/identity/passwords.js'

/** Processes that this one has started and that have not ended. */
const children = (): number[] =>
  readFileSync(`/proc/self/task/${process.pid}/children`, 'utf8').split(' ').filter(Boolean).map(Number)

/** Resolves with what `work` gives, which runs when Node knows that the channel of a child is closed, and not yet that it has ended. */
const atDisconnect = <T>(work: () => T): Promise<T> =>
  new Promise((resolve) => {
    const { emit } = ChildProcess.prototype
    ChildProcess.prototype.emit = function (this: ChildProcess, ...event: [string, ...unknown[]]): boolean {
      if (event[0] === 'disconnect') {
        ChildProcess.prototype.emit = emit
        resolve(work())
      }
      return emit.apply(this, event as never)
    } as typeof emit
  })

t.test(
  'passwords that are sent to a checker that has just died are refused for now, and do not end the server',
  async (t) => {
    const passwords = new Passwords(new Map([['ann', hashSync('right', 4)]]), systemClock)
    // The checker does not keep this process alive.
    const keepAlive = setInterval(() => {}, 1000)
    t.teardown(() => {
      clearInterval(keepAlive)
      passwords.close()
    })
    const check = async (password: string): Promise<string> => {
      const text = Buffer.from(`ann:${password}`).toString('base64')
      try {
        return (await passwords.identify(readCredential(`Basic ${text}`))).name
      } catch (error) {
        return StatusError.from(error).message
      }
    }
    const before = new Set(children())
    t.match(await check('wrong'), /is wrong/)
    const checks = atDisconnect(() => Array.from({ length: 5 }, (_, at) => check(`wrong ${at}`)))
    process.kill(children().find((pid) => !before.has(pid)) as number, 'SIGKILL')
    const answers = await Promise.all(await checks)
    t.same(new Set(answers), new Set(['the password could not be checked: try again']))
    t.equal(await check('right'), 'ann', 'by a new checker')
  },
)
