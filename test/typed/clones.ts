/** Commands that README.md and CONTRIBUTING.md name, and clones to type them in, where nothing was installed or built before. */
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import t, { type Test } from 'tap'
import { start } from '../cli/program.js'
import { cleanEnv, run } from '../clients/process.js'
import { root, scratchFolder } from '../clients/scratch.js'

/** The commands of this project in a page: lines of its code blocks, and code between backticks. */
export const commandsOf = (page: string): readonly string[] => {
  const text = readFileSync(join(root, page), 'utf8')
  const blocks = [...text.matchAll(/^```sh\n(.*?)^```/gms)].flatMap(([, block = '']) => block.split('\n'))
  const inline = [...text.replace(/^```.*?^```/gms, '').matchAll(/`([^`]+)`/g)].map(([, code = '']) => code)
  const typed = [...blocks.map((line) => line.replace(/\s+#.*/, '').trim()), ...inline]
  return typed.filter((command) => /^(npm|node|remexec) \S/.test(command))
}

/**
 * Commands as they are typed here, in the order of a reader; each list has a clone of its own. Bounded: fewer rounds, one case. The kills of
 * the file store fail below some twenty, because not every kind of kill occurs then.
 */
export const CLONES: Readonly<Record<string, Readonly<Record<string, string>>>> = {
  build: {
    'npm run build': 'npm run build',
    'npm pack': 'npm pack',
    'npm install --global ./remexec-*.tgz': 'npm install --global --prefix ../prefix ./remexec-*.tgz',
    'remexec init': '../prefix/bin/remexec init && ../prefix/bin/remexec init team ../team',
    'remexec validate': '../prefix/bin/remexec validate fixtures/configs/readme.json5',
    'remexec validate FILE': '../prefix/bin/remexec validate ../team/remexec.json5',
  },
  lint: { 'npm run lint': 'npm run lint' },
  generate: { 'npm run generate': 'npm run generate && git diff --exit-code && test -z "$(git status --porcelain)"' },
  programs: {
    'npm run ts -- FILE': 'npm run ts -- test/fuzz/main.ts --minutes 0.01',
    'npm run ts -- test/store/kinds/filesystem/kills.ts 500': 'npm run ts -- test/store/kinds/filesystem/kills.ts 20',
    'npm run ts -- test/assembly/thread-kills.ts 300': 'npm run ts -- test/assembly/thread-kills.ts 1',
    'npm run ts -- test/assembly/kills/main.ts 300': 'npm run ts -- test/assembly/kills/main.ts 1',
    'npm run ts -- test/attacks/main.ts --cli dist/cli.js':
      'npm run ts -- test/attacks/main.ts --cli dist/cli.js --watch 1 --only "A3: 8 Writes"',
  },
  fuzz: { 'npm run fuzz -- --minutes 1': 'npm run fuzz -- --minutes 0.05' },
  bench: {
    'npm run bench': 'npm run bench -- --list',
    'npm run bench -- --quick --only TEXT --against OTHER/dist/cli.js':
      'npm run bench -- --quick --rounds 1 --processes 1 --only "GetActionResult miss" --against dist/cli.js',
  },
  tests: {
    'npm test -- test/reapi': 'npm test -- test/reapi',
    'npm test -- test/store/kinds/memory': 'npm test -- test/store/kinds/memory',
    'npm test -- --grep=retr test/scheduler/simple.test.ts': 'npm test -- --grep=retr test/scheduler/simple.test.ts',
    'npm test -- test/store/pairs': 'npm test -- test/store/pairs',
    'npm test -- --jobs 1 test/store/*.test.ts': 'npm test -- --jobs 1 test/store/*.test.ts',
  },
}

/** Commands with a test of their own, or whose whole would take hours. */
export const OTHERWISE: Readonly<Record<string, string>> = {
  'npm start': 'serves, and is stopped: in installs.nightly.ts',
  'node dist/cli.js my-config.json5': 'serves, and is stopped: in installs.nightly.ts',
  'npm run conformance -- grpc://127.0.0.1:50051': 'against the server that npm start serves: in installs.nightly.ts',
  'remexec doctor': 'reports what this machine lacks: in installs.nightly.ts',
  'remexec doctor FILE': 'reports what this machine lacks: in installs.nightly.ts',
  'remexec status': 'asks a server that runs: test/cli/operator.test.ts does',
  'npm test': 'an hour here; the rooms above are typed, and .ci/run types the whole',
  'npm test -- --timeout=1200 test/chaos/bazel.nightly.ts': '.ci/nightly types it with all nightly files',
  'npm test -- --timeout=1200 $(node .ci/choose.mjs changed main)': '.ci/run does the same',
  'npm run ts -- test/mutants/main.ts --table test/mutants/table.tsv': 'hours',
}

/** A clone of what is committed, and the environment of somebody who typed nothing in it yet. */
export const freshClone = async (t: Test) => {
  const folder = await scratchFolder(t)
  const cwd = join(folder, 'clone')
  const { code, output } = await run('git', ['clone', '--quiet', root, cwd], folder, cleanEnv(folder))
  t.equal(code, 0, output)
  // What npm downloaded before is in its own cache, which it checks against the lock file.
  const env = {
    ...process.env,
    npm_config_prefer_offline: 'true',
    REMEXEC_DATA: join(folder, 'data'),
    REMEXEC_PORT: '0',
  }
  return { folder, cwd, env }
}

/** Types a line as a shell reads it; it must end with 0. */
export const type = async (t: Test, line: string, cwd: string, env: NodeJS.ProcessEnv): Promise<string> => {
  const typed = start(t, ['sh', '-c', line], { cwd, env })
  const { code } = await typed.ended
  t.equal(code, 0, line) || t.comment(typed.said().slice(-4000))
  return typed.said()
}

/** A test for each of these lists of commands. */
export const typeOnClones = (names: readonly string[]): void => {
  for (const name of names) {
    t.test(`on a fresh clone: ${name}`, async (t) => {
      const { cwd, env } = await freshClone(t)
      for (const line of Object.values(CLONES[name] ?? {})) await type(t, line, cwd, env)
    })
  }
}
