import { mkdirSync, symlinkSync, writeFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import t, { type Test } from 'tap'
import { expandedArguments, splitLine } from '../../../src/worker/persistent/arguments.js'

t.test('a command line is split as Bazel splits it', async (t) => {
  const startup = ['java', '-jar', 'b.jar', '--flagfile']
  const flagFiles = ['@a.params', '-flagfile=b', '--flagfile=c', '@@d', '@repo//label']
  t.same(splitLine([...startup.slice(0, 2), ...flagFiles, ...startup.slice(2)]), { startup, flagFiles })
  // As Buck2 sends it: each argument of the request is in the file.
  t.same(splitLine(['worker', '--x', '@args']), { startup: ['worker', '--x'], flagFiles: ['@args'] })
  for (const line of [['tool', 'a'], ['@a'], ['@a', 'tool'], [], ['@', 'x'], ['tool', '--flagfile=']])
    t.equal(splitLine(line), undefined, line.join(' '))
})

const rootWith = (t: Test, files: Readonly<Record<string, string>>): string => {
  const root = join(t.testdir({ root: {}, outside: 'secret' }), 'root')
  for (const [path, text] of Object.entries(files)) {
    mkdirSync(dirname(join(root, path)), { recursive: true })
    writeFileSync(join(root, path), text)
  }
  return root
}

t.test('params files are expanded, also those that they name', async (t) => {
  const root = rootWith(t, {
    'a.params': '--out\nx\r\n@d/b.params\n@@kept\n@repo//label\n\nlast',
    'd/b.params': 'within\n--flagfile=d/c\n',
    empty: '',
    'w/p': '@../a.params',
  })
  const expanded = ['--out', 'x', 'within', '--flagfile=d/c', '@@kept', '@repo//label', '', 'last']
  t.same(expandedArguments(['@a.params', '--flagfile=q', '@empty'], { root, workingDirectory: '' }), [
    ...expanded,
    '--flagfile=q',
  ])
  t.throws(() => expandedArguments(['@w/p'], { root, workingDirectory: '' }), /not in the input root/)
})

t.test('params files are read below the working directory, and out of it within the root', async (t) => {
  const root = rootWith(t, { 'w/p': '@../q', q: 'ok' })
  t.same(expandedArguments(['@p'], { root, workingDirectory: 'w' }), ['ok'])
})

t.test('nothing outside of the input root is read', async (t) => {
  const root = rootWith(t, { loop: '@loop\n@loop', huge: 'x'.repeat(9 * 2 ** 20) })
  symlinkSync('../outside', join(root, 'link'))
  symlinkSync('..', join(root, 'up'))
  for (const file of ['../outside', '/etc/passwd', 'link', 'up/outside', 'absent', '.'])
    t.throws(() => expandedArguments([`@${file}`], { root, workingDirectory: '' }), { message: /params file/ }, file)
  t.throws(() => expandedArguments(['@loop'], { root, workingDirectory: '' }), /name more than 1000 others/)
  t.throws(() => expandedArguments(['@huge'], { root, workingDirectory: '' }), /more than 8388608 bytes/)
})
