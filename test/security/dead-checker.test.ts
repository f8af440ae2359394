import { ChildProcess } from 'node:child_process'
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { hashSync } from 'bcryptjs'
import t, { type Test } from 'tap'
import { systemClock } from '../../src/base/clock.js'
import { StatusError } from '../../src/base/status-error.js'
import { readCredential } from '../../src/security/identity/credential.js'
import { Passwords } from '../../src/security/identity/passwords.js'
import { noDescriptors, withoutPrlimit } from '../no-descriptors.js'

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

const BUSY = 'the password could not be checked: try again'

/** What becomes of a password of ann, whose own is `right`. */
const checking = (t: Test) => {
  const passwords = new Passwords(new Map([['ann', hashSync('right', 4)]]), systemClock)
  // The checker does not keep this process alive.
  const keepAlive = setInterval(() => {}, 1000)
  t.teardown(() => {
    clearInterval(keepAlive)
    passwords.close()
  })
  return async (password: string): Promise<string> => {
    const text = Buffer.from(`ann:${password}`).toString('base64')
    try {
      return (await passwords.identify(readCredential(`Basic ${text}`))).name
    } catch (error) {
      return StatusError.from(error).message
    }
  }
}

t.test(
  'passwords that are sent to a checker that has just died are refused for now, and do not end the server',
  async (t) => {
    const check = checking(t)
    const before = new Set(children())
    t.match(await check('wrong'), /is wrong/)
    const checks = atDisconnect(() => Array.from({ length: 5 }, (_, at) => check(`wrong ${at}`)))
    process.kill(children().find((pid) => !before.has(pid)) as number, 'SIGKILL')
    const answers = await Promise.all(await checks)
    t.same(new Set(answers), new Set([BUSY]))
    t.equal(await check('right'), 'ann', 'by a new checker')
  },
)

t.test('while no checker can be started passwords are refused, and the server goes on', async (t) => {
  const check = checking(t)
  const { execPath } = process
  process.execPath = join(t.testdir(), 'gone')
  t.teardown(() => {
    process.execPath = execPath
  })
  t.equal(await check('right'), BUSY)
  process.execPath = execPath
  t.equal(await check('right'), 'ann', 'by one that can be started')
})

t.test('without a descriptor for a checker too', { skip: withoutPrlimit }, async (t) => {
  const check = checking(t)
  const freed = await noDescriptors()
  t.equal(await check('right').finally(freed), BUSY)
  t.equal(await check('right'), 'ann', 'once there is one')
})
