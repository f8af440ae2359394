/** A build of Bazel 4.2 during every fault of `faults.ts`. */
import { mkdirSync, readdirSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import t from 'tap'
import { Bazel, bazelRelease } from '../clients/bazel.js'
import { copyFixture, scratchFolder } from '../clients/scratch.js'
import { slowOutput, slowPackage } from '../clients/slow-package.js'
import { FAULTS } from './faults.js'
import { Fleet, until } from './fleet.js'
import { openNetwork } from './network.js'

// For changes in: src/scheduler, src/service/worker-api, src/service/execution, src/worker/connection.ts
// For changes in: src/worker/attempts.ts

t.setTimeout(420_000)

/** Debian's Bazel 4.2.3 does not know its release and says `no_version`. */
const program = process.env['REMEXEC_TEST_BAZEL_4'] ?? 'bazel'
const release = await bazelRelease(program)
if (release === undefined || !/^(4\.2\.|no_version)/.test(release)) {
  t.plan(
    0,
    `needs Bazel 4.2 and found ${release}: apt-get install bazel-bootstrap, or name one in REMEXEC_TEST_BAZEL_4`,
  )
  process.exit()
}

const SLOW = 60

t.test('a build succeeds whatever befalls scheduler, workers and network meanwhile', async (t) => {
  const folder = await scratchFolder(t)
  const workspace = await copyFixture('workspace', folder)
  const trace = join(folder, 'trace')
  for (const path of [trace, join(workspace, 'slow')]) mkdirSync(path)
  writeFileSync(join(workspace, 'slow', 'BUILD'), slowPackage(trace, SLOW, 1.5))
  const fleet = await Fleet.start(t, folder, openNetwork(t), 4)
  const bazel = new Bazel(program, folder, workspace)
  t.teardown(() => bazel.shutdown())
  const begun = (): number => readdirSync(trace).length
  const befall = async (): Promise<void> => {
    const underWay: Promise<void>[] = []
    for (const [index, fault] of FAULTS.entries()) {
      await until(`${index} of ${FAULTS.length} faults`, () => begun() >= ((index + 1) / (FAULTS.length + 1)) * SLOW)
      t.comment(`${begun()} begun: ${fault.name}`)
      const over = fault.run(fleet)
      if (fault.ofScheduler) await over
      else underWay.push(over)
    }
    await Promise.all(underWay)
  }
  const executor = `--remote_executor=grpc://${fleet.address}`
  const [{ code, output, ran }] = await Promise.all([
    bazel.run('test', executor, '--remote_retries=30', '--jobs=24', '//...'),
    befall(),
  ])
  t.equal(code, 0, 'the build succeeds') || t.comment(output)
  t.same(
    Object.keys(ran).filter((where) => !where.startsWith('remote')),
    [],
    'nothing ran here',
  )
  t.equal(readFileSync(bazel.output('slow/all.txt'), 'utf8'), slowOutput(SLOW))
  t.equal(readFileSync(bazel.output('plain/rest.txt'), 'utf8'), 'BETA\nGAMMA\n')
  const runs = readdirSync(trace).reduce((all, name) => all + readFileSync(join(trace, name), 'utf8').length, 0)
  t.comment(`${SLOW} slow actions ran ${runs} times, ${fleet.adoptions()} of them across a restart of the scheduler`)
  await until('idle workers', async () => {
    const { workers, queued } = await fleet.overview()
    return workers.length === 4 && queued === 0 && workers.every(({ attempts }) => attempts.length === 0)
  })
  t.same(await fleet.stop(), [143, 143, 143, 143, 143])
})
