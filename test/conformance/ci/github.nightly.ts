/** conformance/action.yml in workflows that act runs on this machine: the jobs of another server's repository. */
import { existsSync, rmSync } from 'node:fs'
import { mkdir, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import t from 'tap'
import { cleanEnv, type Outcome, run } from '../../clients/process.js'
import { expectReports, FAULTY_ROW, judged, ROWS, withoutRegistry } from './judged.js'

// For changes in: conformance, package.json

t.setTimeout(600_000)

const { REMEXEC_TEST_ACT: act } = process.env
if (act === undefined) {
  t.plan(0, 'needs act in REMEXEC_TEST_ACT')
  process.exit()
}

const { folder, home, version, correct, faulty, commit } = await judged(t)
const reports = join(folder, 'reports')

/** The options hold words that a shell would run or expand, were they part of the script. */
const job = (name: string, address: string, ...more: readonly string[]): string[] => [
  `  ${name}:`,
  '    runs-on: ubuntu-latest',
  '    steps:',
  // act copies the folder for it.
  '      - uses: actions/checkout@v4',
  '      - uses: ./conformance',
  '        with:',
  `          address: ${address}`,
  `          options: --only ${ROWS} --patience 4 --server-name $(touch$IFS"${folder}/here")*`,
  `          version: ${version}`,
  `          reports: ${reports}`,
  ...more.map((line) => `          ${line}`),
]
const KNOWN = 'expectations: known.json5'
const workflow = [
  'on: push',
  'jobs:',
  ...job('correct', correct),
  ...job('faulty', faulty),
  ...job('known', faulty, KNOWN, 'server-version: v2.6.0'),
  ...job('mended', faulty, KNOWN, 'server-version: v2.6.1'),
]
await mkdir(join(folder, '.github/workflows'), { recursive: true })
await writeFile(join(folder, '.github/workflows/conformance.yml'), workflow.join('\n'))
await commit()

const runs = (name: string): Promise<Outcome> => {
  rmSync(reports, { recursive: true, force: true })
  const options = ['--platform=ubuntu-latest=-self-hosted', `--job=${name}`]
  return run(act, ['push', ...options], folder, cleanEnv(home))
}

t.test('a correct server passes, with its reports and a summary of the job', async (t) => {
  const { code, output } = await runs('correct')
  const lacking = withoutRegistry(output)
  if (lacking !== undefined) {
    t.pass('runs', { skip: lacking })
    t.end()
    process.exit()
  }
  t.equal(code, 0) || t.comment(output)
  expectReports(t, reports, [])
  t.match(output, /Summary - # .*\n[\s\S]*FindMissingBlobs \| 3 \| 0/)
  t.notOk(existsSync(join(folder, 'here')), 'no option is run')
})

t.test('a faulty server fails the job, which has its reports all the same', async (t) => {
  const { code, output } = await runs('faulty')
  t.equal(code, 1) || t.comment(output)
  expectReports(t, reports, [FAULTY_ROW])
})

t.test('a known fault passes in the versions that have it', async (t) => {
  const { code, output } = await runs('known')
  t.equal(code, 0) || t.comment(output)
  expectReports(t, reports, [])
})

t.test('the same fault fails in the version that should be rid of it', async (t) => {
  t.equal((await runs('mended')).code, 1)
  expectReports(t, reports, [FAULTY_ROW])
})
