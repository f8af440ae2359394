import { spawnSync } from 'node:child_process'
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import t from 'tap'
import { holds } from './rule.js'

const root = fileURLToPath(new URL('../..', import.meta.url))
const LINTER = ['-c', `${root}scripts/lint/promises.json`]

// Of a hundred lines of src/ that had an `await` removed (test/mutants/asynchrony.ts), this refuses ninety-four.
holds('no promise is left alone', 'node_modules/.bin/oxlint', ...LINTER, 'src')

const REFUSED: readonly (readonly [what: string, text: string, said: RegExp])[] = [
  ['a promise that nobody handles', 'work()', /no-floating-promises/],
  ['one of Node', "unlink('path')", /no-floating-promises/],
  ['one with one handler', 'work().then(work)', /no-floating-promises/],
  ['one that decides as if it were its value', 'if (work()) unlink.name', /no-misused-promises/],
  ['one whose failure comes behind the catch', 'try { return work() } catch { return 1 }', /return-await/],
]

t.test('the linter refuses a promise without an await, whoever made it', async (t) => {
  // It does not look into folders that git ignores, as those of tests are.
  const folder = mkdtempSync(join(tmpdir(), 'remexec-promises-'))
  t.teardown(() => rmSync(folder, { recursive: true }))
  const compilerOptions = { incremental: false, typeRoots: [`${root}node_modules/@types`] }
  const tsconfig = { extends: `${root}tsconfig.json`, compilerOptions, include: ['.'] }
  writeFileSync(join(folder, 'tsconfig.json'), JSON.stringify(tsconfig))
  for (const [at, [, text]] of REFUSED.entries()) {
    const whole = `import { unlink } from 'node:fs/promises'
const work = async (): Promise<number> => 1
export const one = async () => { ${text} }
void unlink.name
`
    writeFileSync(join(folder, `${at}.ts`), whole)
  }
  const { stdout, error } = spawnSync(`${root}node_modules/.bin/oxlint`, [...LINTER, '-f', 'unix', '.'], {
    cwd: folder,
    encoding: 'utf8',
    env: { PATH: `${root}node_modules/.bin:${process.env['PATH']}` },
  })
  t.error(error)
  const lines = stdout.split('\n')
  for (const [at, [what, , said]] of REFUSED.entries())
    t.match(lines.filter((line) => line.startsWith(`${at}.ts:`)).join('\n'), said, what)
})
