// For changes in: bench, scripts, conformance, package.json
import { existsSync, readdirSync, readFileSync } from 'node:fs'
import { dirname, join, resolve } from 'node:path'
import t from 'tap'
import { root, start } from './cli/program.js'

t.setTimeout(600_000)

interface Started {
  readonly args?: readonly string[]
  /** What it prints once it works; it is ended then. */
  readonly says: RegExp
}

/** Each program of these folders and how it is seen to work. */
const PROGRAMS: Readonly<Record<string, Started>> = {
  'bench/chunk-session.ts': { args: ['1', '2'], says: /a program of/ },
  'bench/index.ts': { says: /\d/ },
  'bench/main.ts': { args: ['--list'], says: /FindMissingBlobs\(1\)/ },
  'bench/prototype/main.ts': { says: /remexec +\d+ op\/s/ },
  'bench/soak/main.ts': {
    args: ['--minutes', '0.05', '--samples', '3', '--only', 'small calls'],
    says: /^(held|did not hold:)$/m,
  },
  'bench/tree-difference.ts': { says: /100000 files/ },
  'conformance/main.ts': { args: ['--help'], says: /exit code/ },
  'conformance/mutate/seeded/main.ts': { says: /^usage/ },
  'conformance/mutate/write-table.ts': { args: ['--help'], says: /^/ },
  'conformance/record/main.ts': { args: ['--help'], says: /exit code/ },
  'conformance/report/write-table.ts': { args: ['--help'], says: /^/ },
  'scripts/package/main.mjs': { says: /usage/ },
  'scripts/package/manifest.mjs': { says: /usage/ },
  'scripts/generate.mjs': { args: ['--check'], says: /^/ },
  'scripts/release.mjs': { says: /usage/ },
  'scripts/test.mjs': { args: ['test/base/quantities.test.ts'], says: /^ok/m },
}

/** Files that nobody imports and that another file starts or loads. */
const LOADED: Readonly<Record<string, string>> = {
  'bench/load/asking.ts': 'a process of bench/cases/meanwhile.ts',
  'bench/prototype/grpc-js.ts': 'a server of bench/prototype/main.ts',
  'bench/prototype/server.ts': 'a server of bench/prototype/main.ts',
  'bench/server/bare-http.mjs': 'a server of bench/server/process.ts',
  'bench/server/bare.ts': 'a server of bench/server/process.ts',
  'bench/server/idle-worker.ts': 'a process of bench/server/start-idle-worker.ts',
  'bench/server/probe.mjs': 'loaded into the servers of the bench',
  'bench/server/spawns.mjs': 'a process of bench/limits.ts',
  'bench/soak/probe.mjs': 'loaded into the server of the soak',
  'conformance/build.mjs': 'run by test/conformance/package.nightly.ts, because it replaces its dist/',
  'conformance/mutate/lawful.ts': 'read by test/conformance',
  'conformance/requirements/unobservable.ts': 'read by test/conformance',
  'scripts/build.mjs': 'run on a clone by test/start.nightly.ts, because it replaces dist/',
  'scripts/generate-config.mjs': 'a step of scripts/generate.mjs',
  'scripts/generate-descriptors.mjs': 'a step of scripts/generate.mjs',
  'scripts/generate-gear.mjs': 'a step of scripts/generate.mjs',
  'scripts/generate-protos.mjs': 'a step of scripts/generate.mjs',
  'scripts/prepare.mjs': 'run on a clone by test/start.nightly.ts, because it replaces dist/',
  'scripts/tap/domain.mjs': 'bundled by scripts/build-tests.mjs',
  'scripts/tap/entry.mjs': 'bundled by scripts/build-tests.mjs',
}

const FOLDERS = ['bench', 'scripts', 'conformance']
const IMPORTED = /(?:from|import)\s*\(?\s*'(\.[^']+)'/g

/** Sources that no other source of these folders imports: programs, and what is loaded by its path. */
const notImported = (): string[] => {
  const files = FOLDERS.flatMap((folder) =>
    readdirSync(join(root, folder), { recursive: true, encoding: 'utf8' }).map((path) => join(folder, path)),
  ).filter((path) => /\.(ts|mjs)$/.test(path) && !/(^|\/)(node_modules|dist)\//.test(path))
  const imported = new Set(
    files.flatMap((file) =>
      [...readFileSync(join(root, file), 'utf8').matchAll(IMPORTED)].flatMap(([, path = '']) => {
        const target = resolve(root, dirname(file), path)
        return [target, target.replace(/\.js$/, '.ts')]
      }),
    ),
  )
  return files.filter((file) => !imported.has(join(root, file)))
}

t.test('each program of bench, scripts and conformance is in a table of this test', async (t) => {
  const known = [...Object.keys(PROGRAMS), ...Object.keys(LOADED)]
  t.same(
    notImported().filter((file) => !known.includes(file)),
    [],
    'files that nobody imports: a program is a row of PROGRAMS',
  )
  t.same(
    known.filter((file) => !existsSync(join(root, file))),
    [],
    'rows of files that are gone',
  )
})

for (const [program, { args = [], says }] of Object.entries(PROGRAMS)) {
  t.test(`${program} ${args.join(' ')} starts and does its work`, async (t) => {
    const loader = program.endsWith('.ts') ? ['--import', 'tsx'] : []
    const running = start(t, [process.execPath, ...loader, program, ...args], { detached: true })
    if (says.source === '^') {
      t.equal((await running.ended).code, 0, running.said())
      return
    }
    await running.hears(says)
    t.pass()
    // What it started ends with it.
    process.kill(-(running.child.pid ?? 0), 'SIGTERM')
    await running.ended
  })
}
