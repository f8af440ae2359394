/** conformance/gitlab.yml in a pipeline that gitlab-ci-local runs on this machine: the jobs of another server's repository. */
import { existsSync, rmSync } from 'node:fs'
import { writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import t from 'tap'
import { cleanEnv, type Outcome, run } from '../../clients/process.js'
import { expectReports, FAULTY_ROW, judged, ROWS, withoutRegistry } from './judged.js'

// For changes in: conformance, package.json

t.setTimeout(600_000)

const { REMEXEC_TEST_GITLAB_CI_LOCAL: program, REMEXEC_TEST_NODE_24: node } = process.env
if (program === undefined || node === undefined) {
  t.plan(0, 'needs gitlab-ci-local in REMEXEC_TEST_GITLAB_CI_LOCAL, and Node 24 in REMEXEC_TEST_NODE_24')
  process.exit()
}

const { folder, home, version, correct, faulty, commit } = await judged(t)

/** The options hold words that a shell would run or expand, were they part of the script. */
const pipeline = `include: conformance/gitlab.yml
.judged:
  extends: .reapi-conformance
  variables: { REAPI_SUITE_VERSION: '${version}', REAPI_OPTIONS: '--only ${ROWS} --patience 4 --server-name $(touch$IFS"here")*' }
correct:
  extends: .judged
  variables: { REAPI_ADDRESS: '${correct}' }
faulty:
  extends: .judged
  variables: { REAPI_ADDRESS: '${faulty}' }
known:
  extends: .judged
  variables: { REAPI_ADDRESS: '${faulty}', REAPI_EXPECTATIONS: known.json5, REAPI_SERVER_VERSION: v2.6.0 }
mended:
  extends: .judged
  variables: { REAPI_ADDRESS: '${faulty}', REAPI_EXPECTATIONS: known.json5, REAPI_SERVER_VERSION: v2.6.1 }
`
await writeFile(join(folder, '.gitlab-ci.yml'), pipeline)
await commit()

const reports = join(folder, 'conformance-reports')

const job = (name: string): Promise<Outcome> => {
  rmSync(reports, { recursive: true, force: true })
  const options = ['--force-shell-executor', '--artifacts-to-source', '--color=false']
  return run(node, [program, ...options, name], folder, cleanEnv(home))
}

t.test('a correct server passes, and its reports are artifacts', async (t) => {
  const { code, output } = await job('correct')
  const lacking = withoutRegistry(output)
  if (lacking !== undefined) {
    t.pass('runs', { skip: lacking })
    t.end()
    process.exit()
  }
  t.equal(code, 0) || t.comment(output)
  expectReports(t, reports, [])
  t.notOk(existsSync(join(folder, 'here')), 'no option is run')
})

t.test('a faulty server fails the job, which has its reports all the same', async (t) => {
  const { code, output } = await job('faulty')
  t.equal(code, 1) || t.comment(output)
  expectReports(t, reports, [FAULTY_ROW])
})

t.test('a known fault passes in the versions that have it', async (t) => {
  const { code, output } = await job('known')
  t.equal(code, 0) || t.comment(output)
  expectReports(t, reports, [])
})

t.test('the same fault fails in the version that should be rid of it', async (t) => {
  t.equal((await job('mended')).code, 1)
  expectReports(t, reports, [FAULTY_ROW])
})
