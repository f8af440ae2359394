import { chmodSync } from 'node:fs'
import { join } from 'node:path'
import t from 'tap'
import { programToStart } from '../../../src/worker/command/program.js'

t.test('a program that is not in PATH is found in the working directory, and one in PATH comes first', async (t) => {
  const folder = t.testdir({ cwd: { 'cmd.sh': '', both: '', plain: '', sub: {} }, bin: { both: '', plain: '' } })
  const cwd = join(folder, 'cwd')
  const bin = join(folder, 'bin')
  for (const path of ['cwd/cmd.sh', 'cwd/both', 'bin/both', 'bin/plain']) chmodSync(join(folder, path), 0o755)
  const start = (name: string, path: string | undefined, root = '') => programToStart(name, { cwd, path, root })
  t.equal(start('cmd.sh', bin), './cmd.sh')
  t.equal(start('cmd.sh', undefined), './cmd.sh', 'without PATH')
  t.equal(start('cmd.sh', ''), 'cmd.sh', 'an empty PATH is the working directory already')
  t.equal(start('both', bin), 'both')
  t.equal(start('both', '../bin'), 'both', 'a relative PATH')
  t.equal(start('both', '/bin', folder), 'both', 'a PATH inside the root of the command')
  t.equal(start('plain', '/nosuch'), 'plain', 'not executable')
  t.equal(start('sub', bin), 'sub', 'a directory')
  t.equal(start('nosuch', bin), 'nosuch')
  t.equal(start('sub/cmd.sh', bin), 'sub/cmd.sh')
})
