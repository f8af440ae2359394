import { spawnSync } from 'node:child_process'
import {
  appendFileSync,
  chmodSync,
  existsSync,
  mkdirSync,
  readFileSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import t, { type Test } from 'tap'

const root = fileURLToPath(new URL('../..', import.meta.url))

/** Keeps a tool whose instructions are these lines; `made` counts how often they ran. */
const keeper = (t: Test) => {
  const home = t.testdir()
  const folder = join(home, 'remexec', 'tools', 'tool-1.0')
  const made = join(home, 'made')
  const keep = (
    instructions = 'echo "echo tool" >tool; chmod 755 tool; mkdir lib; echo text >lib/text',
    version = '1',
  ) => {
    const script = `source .ci/cache; make() { echo >>'${made}'; ${instructions}; }; keep tool-1.0 make ${version}`
    const env = { PATH: process.env['PATH'], XDG_CACHE_HOME: home }
    const { status, stderr } = spawnSync('bash', ['--norc', '-c', `set -u; ${script}`], {
      cwd: root,
      env,
      encoding: 'utf8',
    })
    return { status, stderr, made: readFileSync(made, 'utf8').length }
  }
  return { folder, keep }
}

t.test('a tool is made once', async (t) => {
  const { folder, keep } = keeper(t)
  t.match(keep(), { status: 0, made: 1 })
  t.match(keep(), { status: 0, made: 1, stderr: '' })
  t.ok(existsSync(join(folder, 'tool')))
})

t.test('a tool that is damaged or tampered with is made again', async (t) => {
  const { folder, keep } = keeper(t)
  keep()
  const [tool, text] = [join(folder, 'tool'), join(folder, 'lib', 'text')]
  const harms: Readonly<Record<string, () => void>> = {
    'other bytes': () => writeFileSync(tool, 'echo fool\n'),
    'more bytes': () => appendFileSync(text, 'more'),
    'cut off': () => writeFileSync(text, ''),
    'not executable': () => chmodSync(tool, 0o644),
    'a file is missing': () => rmSync(text),
    'a file more': () => writeFileSync(join(folder, 'lib', 'more'), ''),
    'a link instead of a file': () => {
      rmSync(tool)
      symlinkSync('/bin/true', tool)
    },
    'all is gone': () => rmSync(folder, { recursive: true }),
    'the record is gone': () => rmSync(`${folder}.sha256`),
  }
  for (const [index, [name, harm]] of Object.entries(harms).entries()) {
    harm()
    t.match(keep(), { status: 0, made: index + 2 }, name)
    t.equal(readFileSync(tool, 'utf8'), 'echo tool\n', name)
    t.match(keep(), { status: 0, made: index + 2 }, `${name}: whole again`)
  }
})

t.test('a tool is made again by other instructions, and for another argument', async (t) => {
  const { folder, keep } = keeper(t)
  keep()
  t.match(keep('echo other >tool'), { status: 0, made: 2 })
  t.equal(readFileSync(join(folder, 'tool'), 'utf8'), 'other\n')
  t.notOk(existsSync(join(folder, 'lib')), 'without files of the one before')
  t.match(keep('echo other >tool', '2'), { status: 0, made: 3 })
})

t.test('instructions that fail leave no tool', async (t) => {
  const { folder, keep } = keeper(t)
  t.match(keep('echo half >tool; return 3'), { status: 1, made: 1 })
  t.notOk(existsSync(folder))
  t.match(keep(), { status: 0, made: 2 })
})

t.test('a tool whose making was interrupted is made again', async (t) => {
  const { folder, keep } = keeper(t)
  t.not(keep('echo half >tool; kill -KILL $$; sleep 1').status, 0)
  t.ok(existsSync(folder))
  t.match(keep(), { status: 0, made: 2 })
  t.notMatch(readFileSync(join(folder, 'tool'), 'utf8'), 'half')
})

t.test('what Python writes when a tool runs does not change it', async (t) => {
  const { folder, keep } = keeper(t)
  keep()
  mkdirSync(join(folder, 'lib', '__pycache__'))
  writeFileSync(join(folder, 'lib', '__pycache__', 'x.pyc'), '')
  t.match(keep(), { made: 1 })
})

t.test('what .ci/bring brings for a file has its variable when the tests run', async (t) => {
  // Stands for npm: makes a program, and shows what tests would see.
  const npm = `#!/bin/sh
case "$1" in
  install) mkdir -p node_modules/.bin && echo >node_modules/.bin/azurite-blob ;;
  test) printenv REMEXEC_TEST_AZURITE ;;
esac
`
  const home = t.testdir({ bin: { npm } })
  chmodSync(join(home, 'bin', 'npm'), 0o755)
  const file = 'test/store/kinds/experimental_cloud_object_store/azure-server.ts'
  const script = `source .ci/tests; bring ${file}; brought; run_tests some.test.ts; cat "$report"`
  const env = { PATH: `${home}/bin:${process.env['PATH']}`, XDG_CACHE_HOME: home }
  const { stdout, stderr } = spawnSync('bash', ['--norc', '-c', script], { cwd: root, env, encoding: 'utf8' })
  t.equal(stdout.trim(), join(home, 'remexec/tools/npmazurite-3.35.0/node_modules/.bin/azurite-blob'), stderr)
})

t.test('a variable without a program is an error', async (t) => {
  const { status, stderr } = spawnSync(join(root, '.ci', 'bring'), ['REMEXEC_TEST_UNKNOWN'], { encoding: 'utf8' })
  t.match({ status, stderr }, { status: 2, stderr: 'REMEXEC_TEST_UNKNOWN: no program is brought for it\n' })
})
