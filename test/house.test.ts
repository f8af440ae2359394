import { spawnSync } from 'node:child_process'
import { fileURLToPath } from 'node:url'
import t from 'tap'

// The house rules that tools can check: each entry is a command of a well-kept tool that has to end with status 0.
const root = fileURLToPath(new URL('..', import.meta.url))

const rules: Readonly<Record<string, readonly string[]>> = {
  'the types hold': ['node_modules/.bin/tsc', '--noEmit', '-p', '.'],
  'lint and format': ['node_modules/.bin/biome', 'check', '--diagnostic-level=warn', '--error-on-warnings', '.'],
  'arrows between rooms point down': [
    'node_modules/.bin/depcruise',
    '--config',
    '.dependency-cruiser.cjs',
    'src',
    'conformance',
    'bench',
  ],
  'generated files are what their sources say': [process.execPath, 'scripts/generate.mjs', '--check'],
}

for (const [rule, [command = '', ...args]] of Object.entries(rules)) {
  t.test(rule, async (t) => {
    const { status, stdout, stderr, error } = spawnSync(command, args, { cwd: root, encoding: 'utf8' })
    t.error(error)
    t.equal(status, 0, `${command} ${args.join(' ')}`)
    if (status !== 0) t.comment(`${stdout}${stderr}`)
  })
}
