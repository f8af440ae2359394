import { existsSync, mkdirSync, rmdirSync } from 'node:fs'
import { join } from 'node:path'
import t from 'tap'
import { silentLog } from '../../../src/log/log.js'
import { loadLibc } from '../../../src/worker/command/libc.js'
import type { RunDirectory } from '../../../src/worker/disk/session.js'
import { WorkDirectory } from '../../../src/worker/disk/work-directory.js'
import { until } from '../../until.js'
import { setUp, sh } from './runner-set-up.js'

const skip = loadLibc() === undefined && 'without koffi, processes left behind cannot be detected'
const kept = { maxEntries: 100, maxBytes: 0 }
/** Its directory, the contents and the modes. */
const LOOK = 'pwd; ls -A; stat -c %a,%a,%U . ..; getfattr -d . 2>/dev/null; true'

t.test('an unchanged empty directory is reused by the next action', { skip }, async (t) => {
  const { run, text } = await setUp(t, { kept })
  const looked = async (): Promise<string> => text((await run(sh(LOOK))).result?.stdoutDigest as never)
  const first = await looked()
  t.equal(await looked(), first)
  t.equal(await looked(), first, 'again and again')
  const both = await Promise.all([run(sh(`sleep 0.1; ${LOOK}`)), run(sh(`sleep 0.1; ${LOOK}`))])
  const [a, b] = both.map(({ result }) => text(result?.stdoutDigest as never))
  t.not(a, b, 'two at a time have one each')
})

const spoiling: Readonly<Record<string, string>> = {
  'leaves a file': 'echo > left',
  'leaves a directory': 'mkdir left',
  'has removed its own files': 'echo > left; rm left',
  'changes the mode': 'chmod 700 .',
  'changes the mode of the directory around it, where it may': 'chmod 777 .. || chmod 700 .',
  'removes its directory, where it may': 'rmdir $PWD 2>/dev/null || echo > left',
  'puts another one in its place': 'mv $PWD $PWD.old 2>/dev/null || true; mkdir -p $PWD; chmod 777 $PWD',
  'leaves a process of its group': 'sleep 100 & true',
  'leaves a process that fled':
    "setsid sh -c 'for i in 1 2 3 4 5 6 7 8 9; do sleep 0.05; done; echo > intruder; sleep 1' & sleep 0.1",
}
for (const [what, command] of Object.entries(spoiling)) {
  t.test(`an action that ${what} does not affect the next one`, { skip }, async (t) => {
    const { run, text } = await setUp(t, { kept })
    const looked = async (look: string): Promise<string[]> =>
      text((await run(sh(look))).result?.stdoutDigest as never).split('\n')
    let [place, ...usual] = await looked(LOOK)
    // The directory of the test before may still exist for a moment.
    let last: string | undefined
    await until(async () => {
      last = place
      ;[place, ...usual] = await looked(LOOK)
      return place === last
    }, 'the same directory twice')
    const [spoilt] = await looked(`pwd; ${command}`)
    t.equal(spoilt, place)
    const [next, ...found] = await looked(`sleep 0.7; ${LOOK}`)
    t.not(next, place)
    t.same(found, usual)
  })
}

t.test('a kept directory is checked before reuse, and removed at the end', async (t) => {
  const work = WorkDirectory.open(join(t.testdir(), 'work'), silentLog)
  const made = (): RunDirectory => {
    const directory = work.spare() ?? work.create()
    if (!existsSync(`${directory.path}/root`)) mkdirSync(`${directory.path}/root`)
    directory.made('root')
    return directory
  }
  const first = made()
  work.giveBack(first, ['root'])
  t.equal(work.spare(), first)
  t.equal(work.spare(), undefined, 'once')
  work.giveBack(first, ['root'])
  mkdirSync(`${first.path}/root/intruder`)
  rmdirSync(`${first.path}/root/intruder`)
  t.equal(work.spare(), undefined, 'the directory was changed meanwhile')
  await work.settle()
  t.notOk(existsSync(first.path))
  const last = made()
  work.giveBack(last, ['root'])
  t.ok(existsSync(last.path))
  await work.close()
  t.notOk(existsSync(join(last.path, '..')))
})
