// For changes in: src/pages, src/builds, src/service/execution
/** Every way in which an action or a test of a real Bazel fails: the page of the build has its code, reason and place. */
import { chmod, mkdir, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import t, { type Test } from 'tap'
import { Bazel, bazelRelease } from './bazel.js'
import { copyFixture, scratchFolder } from './scratch.js'
import { startServer } from './server.js'

t.setTimeout(900_000)

const programs = [
  ['REMEXEC_TEST_BAZEL_2', process.env['REMEXEC_TEST_BAZEL_2']],
  ['REMEXEC_TEST_BAZEL_4', process.env['REMEXEC_TEST_BAZEL_4'] ?? 'bazel'],
  ['REMEXEC_TEST_BAZEL_7', process.env['REMEXEC_TEST_BAZEL_7']],
] as const

interface Expected {
  readonly exitCode?: number
  readonly reason?: RegExp
  /** In the last lines of its log. */
  readonly log?: RegExp
  readonly case?: string
}

const rule = (kind: string, name: string, attributes: string): string => `${kind}(name = "${name}", ${attributes})`
const genrule = (name: string, cmd: string): string =>
  rule('genrule', name, `outs = ["${name}.out"], cmd = ${JSON.stringify(cmd)}`)

const ACTIONS: Readonly<Record<string, { readonly build: string; readonly expected: Expected }>> = {
  exit3: { build: genrule('exit3', 'echo why three >&2; exit 3'), expected: { exitCode: 3, log: /why three/ } },
  plain: { build: genrule('plain', 'false'), expected: { exitCode: 1 } },
  killed: { build: genrule('killed', 'kill -9 $$$$'), expected: { exitCode: 137, reason: /SIGKILL/ } },
  segv: { build: genrule('segv', 'kill -SEGV $$$$'), expected: { exitCode: 139, reason: /SIGSEGV/ } },
  aborted: { build: genrule('aborted', 'kill -ABRT $$$$'), expected: { exitCode: 134, reason: /SIGABRT/ } },
  noout: { build: genrule('noout', 'echo nothing made'), expected: { exitCode: 0, reason: /output/ } },
  absent: { build: genrule('absent', 'no-such-program'), expected: { exitCode: 127, log: /not found/ } },
  loud: {
    build: genrule('loud', 'for i in $$(seq 1 3000); do echo "warning line $$i" >&2; done; echo the end >&2; exit 4'),
    expected: { exitCode: 4, log: /warning line 3000\nthe end/ },
  },
  memory: {
    build: genrule('memory', '(ulimit -v 100000; head -c 900000000 /dev/zero | tail >$@) || exit 9'),
    expected: { exitCode: 9, log: /memory/ },
  },
  compile: {
    build: rule('cc_library', 'compile', 'srcs = ["compile.cc"]'),
    expected: { exitCode: 1, log: /compile\.cc:2:\d+: error/ },
  },
  link: {
    build: rule('cc_binary', 'link', 'srcs = ["link.cc"]'),
    expected: { exitCode: 1, log: /undefined reference/ },
  },
}

const test = (name: string, script: string, attributes = ''): readonly [string, string, string] => [
  name,
  rule('sh_test', name, `srcs = ["${name}.sh"]${attributes}`),
  `#!/bin/bash\n${script}\n`,
]

const XML =
  '<testsuites><testsuite name="Cart"><testcase name="Total" classname="Cart" time="0.003"><failure message="41 != 42">cart.cc:42</failure></testcase><testcase name="Empty" classname="Cart"/></testsuite></testsuites>'

const TESTS: readonly { readonly of: readonly [string, string, string]; readonly expected: Expected }[] = [
  {
    of: test('cases', `echo '${XML}' > "$XML_OUTPUT_FILE"; echo 'cart.cc:42: Failure'; exit 1`),
    expected: { exitCode: 1, case: 'Total', log: /cart\.cc:42: Failure/ },
  },
  { of: test('seven', 'echo no seven; exit 7'), expected: { exitCode: 7, log: /no seven/ } },
  { of: test('slow', 'echo begun; sleep 600', ', timeout = "short"'), expected: { reason: /timed out/, log: /begun/ } },
  {
    of: test(
      'shards',
      'touch "$TEST_SHARD_STATUS_FILE"; echo shard; exit $((TEST_SHARD_INDEX * 5))',
      ', shard_count = 2',
    ),
    expected: { exitCode: 5, log: /shard/ },
  },
  {
    of: test('sanitizer', 'echo "==1==ERROR: AddressSanitizer: heap-use-after-free"; exit 66'),
    expected: { exitCode: 66, log: /AddressSanitizer/ },
  },
  { of: test('dies', 'kill -9 $$'), expected: { exitCode: 137, reason: /SIGKILL/ } },
  {
    of: test('broken_report', 'echo "<testsuite><testcase" > "$XML_OUTPUT_FILE"; echo cut short; exit 2'),
    expected: { exitCode: 2, log: /cut short/ },
  },
  {
    of: test('coloured', 'printf "\\033[31mred end\\033[0m\\n"; exit 8'),
    expected: { exitCode: 8, log: /red end/ },
  },
]

/** It ends the process of its worker, each time that it is tried. */
const LOST = genrule('lost', 'kill -9 $$PPID; sleep 600').replace(/\)$/, ', tags = ["manual"])')

const FLAKY = test('flaky', 'echo try >> "$MARKS/tries"; [ "$(wc -l < "$MARKS/tries")" -ge 2 ]', ', flaky = True')

interface Shown {
  readonly label: string
  readonly exitCode?: number
  readonly exitSaidBy?: string
  readonly reason?: string
  readonly log?: { readonly lines?: readonly string[] }
  readonly cases?: readonly { readonly name: string }[]
  readonly execution?: { readonly worker?: string; readonly runMs?: number }
  readonly actionUrl?: string
}

interface Build {
  readonly failedTests: readonly Shown[]
  readonly failedActions: readonly Shown[]
  readonly flakyTests: readonly string[]
  readonly cache: { readonly misses: number; readonly countedBy: string }
}

const failing = async (t: Test, program: string): Promise<void> => {
  const folder = await scratchFolder(t)
  const workspace = await copyFixture('workspace', folder)
  const bad = join(workspace, 'bad')
  const marks = join(folder, 'marks')
  await Promise.all([mkdir(bad), mkdir(marks)])
  await chmod(marks, 0o777)
  const scripts = [...TESTS.map(({ of }) => of), FLAKY]
  await Promise.all([
    writeFile(
      join(bad, 'BUILD'),
      [...Object.values(ACTIONS).map(({ build }) => build), LOST, ...scripts.map(([, build]) => build)].join('\n'),
    ),
    writeFile(join(bad, 'compile.cc'), 'int depth() {\n  return dept;\n}\n'),
    writeFile(join(bad, 'link.cc'), 'int nowhere();\nint main() { return nowhere(); }\n'),
    ...scripts.map(([name, , script]) => writeFile(join(bad, `${name}.sh`), script, { mode: 0o755 })),
  ])
  const { uri } = await startServer(t, join(folder, 'data'))
  const origin = uri.replace('grpc:', 'http:')
  const bazel = new Bazel(program, folder, workspace)
  t.teardown(() => bazel.shutdown())
  const flags = [`--remote_executor=${uri}`, `--bes_backend=${uri}`, `--bes_results_url=${origin}/invocation/`]
  const built = await bazel.run(
    'test',
    ...flags,
    ...['--keep_going', '--test_timeout=20', `--test_env=MARKS=${marks}`, '//bad/...'],
  )
  t.not(built.code, 0)
  const pageOf = async ({ output }: { readonly output: string }) => {
    const [link = ''] = /http:\S+\/invocation\/[0-9a-f-]+/.exec(output) ?? []
    t.not(link, '', 'Bazel prints the link')
    return (await (await fetch(`${link}.json`)).json()) as Build
  }
  const build = await pageOf(built)
  const check = (label: string, shown: Shown | undefined, { exitCode, reason, log, case: failed }: Expected): void => {
    if (shown === undefined) {
      t.fail(`${label} is not shown as failed`)
      return
    }
    t.equal(shown.exitCode, exitCode, `${label}: exit code`)
    t.equal(shown.exitSaidBy, 'server', `${label}: by what this server knows`)
    t.not(shown.execution?.worker ?? '', '', `${label}: worker`)
    t.type(shown.actionUrl, 'string', `${label}: link to the action`)
    if (reason !== undefined) t.match(shown.reason, reason, `${label}: reason`)
    const lines = shown.log?.lines ?? []
    if (log !== undefined) t.match(lines.join('\n'), log, `${label}: log`)
    t.ok(lines.length <= 40, `${label}: the last lines`)
    if (failed !== undefined)
      t.same(
        shown.cases?.map(({ name }) => name),
        [failed],
        `${label}: cases`,
      )
  }
  for (const [name, { expected }] of Object.entries(ACTIONS))
    check(
      name,
      build.failedActions.find(({ label }) => label === `//bad:${name}`),
      expected,
    )
  for (const {
    of: [name],
    expected,
  } of TESTS)
    check(
      name,
      build.failedTests.find(({ label }) => label === `//bad:${name}`),
      expected,
    )
  t.same(build.flakyTests, ['//bad:flaky'])
  t.equal(build.failedTests.length, TESTS.length, 'a flaky test is none of those that failed')
  t.equal(build.cache.countedBy, 'server')
  const lost = await pageOf(await bazel.run('build', ...flags, '--remote_retries=0', '//bad:lost'))
  const [worker] = lost.failedActions
  t.match(worker, { label: '//bad:lost', exitSaidBy: 'server', reason: /no worker could run it to its end/ })
  t.equal(worker?.exitCode, undefined, 'a command whose worker is lost has no exit code')
  if (!t.passing()) t.comment(built.output)
  t.ok(build.cache.misses >= Object.keys(ACTIONS).length + TESTS.length, `${build.cache.misses} misses`)
}

for (const [variable, program] of programs) {
  const release = program && (await bazelRelease(program))
  const skip = release ? false : `needs the Bazel of ${variable}`
  t.test(`Bazel ${release}: each failure has its code, its reason and its place`, { skip }, (t) =>
    failing(t, program ?? ''),
  )
}
