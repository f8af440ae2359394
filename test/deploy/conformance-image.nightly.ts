/** The image remexec-conformance, built by docker, judges servers of this machine: a correct one and a faulty one. */
import { chmod, mkdir } from 'node:fs/promises'
import { join } from 'node:path'
import t from 'tap'
import { findMissingBlobsMutations } from '../../conformance/mutate/mutations/cas/find-missing-blobs.js'
import { MutatingProxy } from '../../conformance/mutate/proxy/proxy.js'
import { expectReports, FAULTY_ROW, ROWS } from '../conformance/ci/judged.js'
import { startServer } from '../conformance/server.js'
import { startEngine, withoutEngine } from './docker-engine.js'

// For changes in: conformance, deploy/Containerfile, .dockerignore, package-lock.json

t.setTimeout(900_000)

if (withoutEngine !== undefined) {
  t.plan(0, withoutEngine)
  process.exit()
}

const IMAGE = 'remexec-conformance'
const engine = await startEngine(t)
const correct = await startServer(t)
const mutation = findMissingBlobsMutations.find(({ name }) => name === 'missing-drops-one')
const proxy = await MutatingProxy.listen(correct, mutation)
t.teardown(() => proxy.close())

/** Judges as the README says; gives the exit code, and the folder of the reports, which the image's user may write. */
const judge = async (name: string, address: string, ...args: readonly string[]) => {
  const reports = join(engine.folder, name)
  await mkdir(reports)
  await chmod(reports, 0o777)
  const options = ['--rm', '--network=host', `--volume=${reports}:/reports`]
  const { code, output } = await engine.asks('run', ...options, IMAGE, address, '--patience', '4', ...args)
  return { code, output, reports }
}

t.test('docker builds the image', (t) => engine.builds(t, IMAGE))

t.test('a correct server passes, with sessions, and its reports are on the host', async (t) => {
  const rows = `${ROWS},EXE-02,SES-bazel-4.2-genrules`
  const { code, output, reports } = await judge('correct', correct, '--quiet', '--only', rows, '--reports', '/reports')
  t.equal(code, 0) || t.comment(output)
  t.match(output, /: 6 checks in /)
  expectReports(t, reports, [])
})

t.test('a faulty server fails, and the reports say where', async (t) => {
  const { code, output, reports } = await judge('faulty', proxy.address, '--only', ROWS, '--reports', '/reports')
  t.equal(code, 1)
  t.match(output, new RegExp(`FAIL ${FAULTY_ROW} `))
  expectReports(t, reports, [FAULTY_ROW])
})

t.test('arguments that are wrong end with 2 and say so', async (t) => {
  const { code, output } = await judge('none', '--nonsense')
  t.equal(code, 2)
  t.match(output, /Unknown option '--nonsense'/)
})
