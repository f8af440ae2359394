/** What shells complete, in the shells themselves where this machine has them. */
import { spawnSync } from 'node:child_process'
import t, { type Test } from 'tap'
import { allCommands } from '../../src/command/commands.js'
import { program, root } from './program.js'

const scripts = new Map(
  ['bash', 'zsh', 'fish'].map((shell) => {
    const { stdout } = spawnSync(process.execPath, [program, 'completion', shell], { encoding: 'utf8', cwd: root })
    return [shell, stdout]
  }),
)
const scriptOf = (shell: string): string => scripts.get(shell) ?? ''

const has = (shell: string): boolean => spawnSync(shell, ['-c', 'true']).status === 0

/** The output of a shell that ran the script and then `more`. */
const saidBy = (t: Test, shell: string, more: string): string => {
  const script = `${scriptOf(shell)}\n${more}\n`
  const { status, stdout, stderr } = spawnSync(shell, shell === 'zsh' ? ['-f', '-c', script] : ['-c', script], {
    encoding: 'utf8',
    cwd: root,
    env: { PATH: process.env['PATH'], HOME: t.testdir() },
  })
  t.equal(status, 0, stderr)
  t.equal(stderr, '')
  return stdout
}

t.test('bash', { skip: !has('bash') && 'no bash here' }, async (t) => {
  const complete = (words: readonly string[]): readonly string[] => {
    const quoted = words.map((word) => `'${word}'`).join(' ')
    const more = `COMP_WORDS=(${quoted}) COMP_CWORD=${words.length - 1}; _remexec; printf '%s\\n' "\${COMPREPLY[@]}"`
    return saidBy(t, 'bash', more).trim().split('\n')
  }
  t.same(complete(['remexec', 'sta']), ['start', 'status'])
  t.same(complete(['remexec', 'queue', '--js']), ['--json'])
  t.same(complete(['remexec', 'drain', '--un']), ['--undrain'])
  t.same(complete(['remexec', '--ver']), ['--version'])
  t.ok(complete(['remexec', 'validate', 'pack']).includes('package.json'), 'files')
  for (const { name, options } of await allCommands())
    for (const option of Object.keys(options)) t.ok(complete(['remexec', name, `--${option}`]).includes(`--${option}`))
})

t.test('zsh', { skip: !has('zsh') && 'no zsh here' }, async (t) => {
  const more = `compadd() { shift; print -l -- $@ }; _files() { print files }; words=(remexec queue --) CURRENT=3; _remexec`
  const stubs = 'compdef() { : }'
  const script = scriptOf('zsh')
  const { status, stdout, stderr } = spawnSync('zsh', ['-f', '-c', `${stubs}\n${script}\n${more}`], {
    encoding: 'utf8',
  })
  t.equal(status, 0, stderr)
  t.ok(stdout.split('\n').includes('--json'), stdout)
})

t.test('fish', { skip: !has('fish') && 'no fish here' }, async (t) => {
  const complete = (line: string): readonly string[] =>
    saidBy(t, 'fish', `complete -C '${line}'`)
      .trim()
      .split('\n')
      .map((one) => one.split('\t')[0] ?? '')
  t.same(
    complete('remexec sta').filter((one) => /^sta/.test(one)),
    ['start', 'status'],
  )
  t.same(complete('remexec queue --js'), ['--json'])
})

t.test('wrong usage', async (t) => {
  const { status, stderr } = spawnSync(process.execPath, [program, 'completion', 'cmd'], { encoding: 'utf8' })
  t.equal(status, 2)
  t.match(stderr, /expected one of bash, zsh, fish/)
})
