import {
  chmodSync,
  existsSync,
  lstatSync,
  mkdirSync,
  readdirSync,
  renameSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs'
import { dirname, join } from 'node:path'
import t, { type Test } from 'tap'
import { type LogFields, silentLog } from '../../../src/log/log.js'
import { WorkDirectory } from '../../../src/worker/disk/work-directory.js'
import { listed, makeBelow, makeDirectory } from '../folders.js'
import { nestDeep } from './deep.js'

const setUp = (t: Test) => {
  const directory = makeDirectory(t)
  writeFileSync(join(makeBelow(directory, 'victim'), 'precious'), 'precious')
  const said: [string, LogFields | undefined][] = []
  const say = (message: string, fields?: LogFields) => said.push([message, fields])
  return {
    path: join(directory, 'made/work'),
    victim: join(directory, 'victim'),
    said,
    open: (path = join(directory, 'made/work')) => {
      const work = WorkDirectory.open(path, { ...silentLog, warn: say, error: say })
      work.removeRemains()
      t.teardown(() => work.close())
      return work
    },
  }
}

t.test('leftovers of an earlier worker are removed, and nothing else is touched', async (t) => {
  const { path, open, said } = setUp(t)
  const run = await open().create()
  nestDeep(run.path)
  chmodSync(run.path, 0o000)
  for (const name of ['1', '.remexec-work-directory', 'remexec-notes']) writeFileSync(join(path, name), '')
  const again = open()
  await again.settle()
  t.notOk(existsSync(dirname(run.path)))
  const [session, ...others] = readdirSync(path).filter((name) => /^remexec-\w{16}$/.test(name))
  t.same([others, listed(join(path, session ?? ''))], [[], []])
  t.same(
    readdirSync(path).filter((name) => name !== session),
    ['.remexec-work-directory', '1', 'remexec-notes'],
  )
  t.same(said, [])
})

t.test('the directory of a run cannot be found without its name', async (t) => {
  const { open } = setUp(t)
  const work = open()
  const [a, b] = [work.create(), work.create()]
  t.match(a.name, /^[0-9a-f]{16}$/)
  t.not(a.name, b.name)
  t.equal(lstatSync(dirname(a.path)).mode & 0o777, 0o311)
})

t.test('a symlink in place of a directory of a run is not followed', async (t) => {
  const { open, victim } = setUp(t)
  const work = open()
  const run = work.create()
  rmSync(run.path, { recursive: true })
  symlinkSync(victim, run.path)
  t.equal(run.open(), undefined)
  t.equal(run.open('precious'), undefined)
  work.discard(run)
  await work.settle()
  t.same(readdirSync(victim), ['precious'])
  t.same(listed(dirname(run.path)), [])
})

t.test('the folder of runs is created again after it was removed or replaced', async (t) => {
  const { open, path, victim, said } = setUp(t)
  const work = open()
  const old = work.create()
  renameSync(dirname(old.path), `${path}/elsewhere`)
  symlinkSync(victim, dirname(old.path))
  const run = work.create()
  t.ok(lstatSync(run.path).isDirectory())
  t.same(readdirSync(victim), ['precious'])
  t.not(dirname(run.path), dirname(old.path))
  t.match(said, [['the folder of the running actions was removed or replaced, there is a new one', { path }]])
  work.discard(old)
  await work.settle()
  t.same(listed(`${path}/elsewhere`).length, 0, 'its contents are removed at their new location')
})

t.test('health is Failed while no directory can be created', async (t) => {
  const { open, path, said } = setUp(t)
  const work = open()
  work.create()
  renameSync(path, `${path}.away`)
  writeFileSync(path, 'in the way')
  const refusal = { code: 14, message: 'no directory for an action can be made on this worker' }
  t.throws(() => work.create(), refusal)
  t.throws(() => work.create(), refusal)
  t.match(work.health(), { state: 'Failed', error: `${path}: a file is in its place (EEXIST)` })
  t.equal(said.length, 1, 'said once')
  rmSync(path)
  work.create()
  t.equal(work.health(), undefined)
})

t.test('closing does not wait until a very large directory is removed', async (t) => {
  const { path, open } = setUp(t)
  const work = open()
  const run = work.create()
  for (let wide = 0; wide < 40; wide++)
    mkdirSync(join(run.path, `${wide}`, ...Array(50).fill('d')), { recursive: true })
  work.discard(run)
  await work.close()
  const below = (): number => {
    for (const session of readdirSync(path)) chmodSync(join(path, session), 0o700)
    return readdirSync(path, { recursive: true }).length
  }
  const left = below()
  t.ok(left > 1_000, `${left} of 2,041 directories are left`)
  await open().settle()
  t.equal(below(), 1)
})

t.test('the next worker removes what a closing one did not', async (t) => {
  const { path, open } = setUp(t)
  const work = open()
  const run = work.create()
  mkdirSync(join(run.path, 'd'))
  work.discard(run)
  await work.close()
  await open().settle()
  t.equal(readdirSync(path).length, 1)
})
