import { execFileSync } from 'node:child_process'
import { existsSync, readdirSync, readFileSync, symlinkSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import t, { type Test } from 'tap'
import { OpenDirectory } from '../../../src/worker/disk/open-directory.js'
import { type Obstacle, removeTree } from '../../../src/worker/disk/remove-tree.js'
import { nestDeep } from './deep.js'

const NOBODY = 65_534

const setUp = (t: Test) => {
  const directory = t.testdir({ from: { doomed: {} }, aside: {}, victim: { precious: 'precious' } })
  const from = OpenDirectory.open(join(directory, 'from'))
  const folder = OpenDirectory.open(join(directory, 'aside'))
  t.teardown(() => {
    from.close()
    folder.close()
  })
  let names = 0
  return {
    directory,
    doomed: join(directory, 'from/doomed'),
    victim: join(directory, 'victim'),
    remove: (isOver = () => false): Promise<readonly Obstacle[]> =>
      removeTree(from, 'doomed', { folder, newName: () => `n${++names}`, isOver }),
    left: () => [...readdirSync(from.path), ...readdirSync(folder.path)],
  }
}

const sh = (cwd: string, script: string): void => {
  execFileSync('/bin/sh', ['-ec', script], { cwd })
}

t.test('directories nested deeper than the longest path', async (t) => {
  const { doomed, remove, left } = setUp(t)
  nestDeep(doomed)
  t.same(await remove(), [])
  t.same(left(), [])
})

t.test('entries with any modes and names, also for users other than root', async (t) => {
  const isRoot = process.geteuid?.() === 0
  for (const user of isRoot ? [0, NOBODY] : [undefined]) {
    const { directory, doomed, remove, left } = setUp(t)
    sh(
      doomed,
      `mkdir -p a/b/c many; touch a/b/c/f "$(printf 'caf\\351')" "$(printf 'd\\351')x"; ln -s / link; mkfifo pipe`,
    )
    sh(
      doomed,
      `mkdir "$(printf 'dir\\377')"; touch "$(printf 'dir\\377/\\376')"; for i in $(seq 300); do : > many/$i; done`,
    )
    sh(doomed, 'chmod 000 a/b/c; chmod 500 a/b; chmod 100 many; chmod 000 a; chmod 555 .')
    if (user === NOBODY) sh(directory, `chown -R ${NOBODY} . && chmod 755 .`)
    if (user !== undefined) process.seteuid?.(user)
    try {
      t.same(await remove(), [])
    } finally {
      if (user !== undefined) process.seteuid?.(0)
    }
    t.same(left(), [])
  }
})

t.test('symlinks in the tree, or in its place, are removed and not followed', async (t) => {
  const { doomed, victim, remove, left } = setUp(t)
  symlinkSync(victim, join(doomed, 'link'))
  t.same(await remove(), [])
  symlinkSync(victim, doomed)
  t.same(await remove(), [])
  writeFileSync(doomed, 'a file')
  t.same(await remove(), [])
  t.same(await remove(), [], 'nothing is there')
  t.same(left(), [])
  t.equal(readFileSync(join(victim, 'precious'), 'utf8'), 'precious')
})

/** Why `command` fails on this machine; false if it works. */
const reasonAgainst = (command: string): string | false => {
  try {
    execFileSync('/bin/sh', ['-ec', `d=$(mktemp -d); ${command}; rmdir $d`], { stdio: 'ignore' })
    return false
  } catch {
    return `not permitted here: ${command}`
  }
}

const noMounts = reasonAgainst('mount --bind $d $d; umount $d')
t.test('a mount is reported and not emptied, all other entries are removed', { skip: noMounts }, async (t) => {
  const { doomed, victim, remove, left } = setUp(t)
  sh(doomed, 'mkdir -p d/mounted d/e; touch f d/g d/e/h')
  sh(doomed, `mount --bind ${victim} d/mounted`)
  const [told, ...others] = await remove()
  t.same(others, [])
  t.match(told, { error: { code: 'EBUSY' }, path: /aside\/n\d\/mounted$/ })
  t.same(readdirSync(told?.path ?? ''), ['precious'])
  t.equal(left().length, 1, 'what holds it')
  sh(told?.path ?? '', 'cd ..; umount mounted')
  t.ok(existsSync(join(victim, 'precious')))
})

const noFlags = reasonAgainst('chattr +i $d; chattr -i $d')
t.test('an immutable file is reported, all other entries are removed', { skip: noFlags }, async (t) => {
  const { doomed, remove, left } = setUp(t)
  sh(doomed, 'mkdir d; touch f d/g d/kept; chattr +i d/kept')
  const [told, ...others] = await remove()
  t.same(others, [])
  t.match(told, { error: { code: 'EPERM' }, path: /aside\/n\d\/kept$/ })
  t.equal(left().length, 1)
  execFileSync('chattr', ['-i', told?.path ?? ''])
})

t.test('a removal can be stopped', async (t) => {
  const { doomed, remove, left } = setUp(t)
  sh(doomed, 'mkdir d; touch a b c d/e')
  let steps = 0
  t.same(await remove(() => ++steps > 2), [])
  t.equal(left().length, 1)
})
