/** The recipe `servers`: two servers behind HAProxy with one queue, a bucket and a worker, as processes of this machine. */
import { spawnSync } from 'node:child_process'
import { mkdir, readdir, readFile, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import t, { type Test } from 'tap'
import { program } from '../cli/program.js'
import { Bazel, bazelRelease } from '../clients/bazel.js'
import { cleanEnv, type Outcome, run } from '../clients/process.js'
import { copyFixture, root } from '../clients/scratch.js'
import { slowOutput, slowPackage } from '../clients/slow-package.js'
import { tlsTunnel } from '../clients/tls-tunnel.js'
import { S3_KEYS, startS3, withoutS3 } from '../store/kinds/experimental_cloud_object_store/s3-server.js'
import { type Backend, startBackend } from '../store/remote/backend.js'
import { until, untilSo } from '../until.js'
import { prepareServers, RECIPE } from './servers-recipe.js'

// For changes in: deploy/recipes/servers, src/scheduler, src/assembly, src/config

t.setTimeout(600_000)

const withoutHaproxy = spawnSync('haproxy', ['-v']).status === 0 ? false : 'needs haproxy: apt-get install haproxy'

const start = async (t: Test) => {
  const s3 = await startS3(t)
  const { folder, etc, ca, tokens, clients, workers, ports } = await prepareServers(t)
  const env = {
    ...process.env,
    ...{ REMEXEC_ETC: etc, REMEXEC_HOST: '127.0.0.1', REMEXEC_CAS_SIZE: '1gb', REMEXEC_CAS_EVICT: '50mb' },
    ...{ REMEXEC_ENDPOINT: `http://127.0.0.1:${s3.port}`, REMEXEC_ALLOW_HTTP: 'true', REMEXEC_BUCKET: 'builds' },
    ...{ AWS_ACCESS_KEY_ID: S3_KEYS.accessKeyId, AWS_SECRET_ACCESS_KEY: S3_KEYS.secretAccessKey },
    ...{ REMEXEC_REGION: 'us-east-1', REMEXEC_PEER_TOKEN: tokens['peers'], REMEXEC_TOKEN: tokens['workers'] },
    ...{ REMEXEC_SERVER: `localhost:${clients}`, REMEXEC_WORKER_API: `localhost:${workers}` },
  }
  const begin = async (name: string, file: string, more: NodeJS.ProcessEnv = {}): Promise<Backend> => {
    const data = join(folder, name)
    await mkdir(data)
    const args = [program, join(RECIPE, file)]
    const options = { cwd: folder, env: { ...env, REMEXEC_DATA: data, ...more } }
    return startBackend(t, process.execPath, args, /remexec serving|connected to the scheduler/, options)
  }
  const servers = await Promise.all(
    ports.map((own, at) =>
      begin(`server-${at}`, 'server.json5', {
        ...{ REMEXEC_PORT: `${own.clients}`, REMEXEC_WORKER_PORT: `${own.workers}` },
        ...{ REMEXEC_PEERS_PORT: `${own.peers}`, REMEXEC_PEER: `localhost:${own.peers}` },
      }),
    ),
  )
  await startBackend(t, 'haproxy', ['-V', '-f', join(folder, 'haproxy.cfg')], /as the polling mechanism/, {
    cwd: folder,
  })
  const worker = await begin('worker', 'worker.json5')
  const judge = (): Promise<Outcome> => {
    const at = [`grpcs://localhost:${clients}`, '--tls-ca', ca]
    const header = ['--header', `authorization=Bearer ${tokens['ci']}`]
    const suite = ['--import', 'tsx', 'conformance/main.ts', ...at, ...header, '--only', 'CMD', '--quiet']
    return run(process.execPath, [...suite, '--patience', '6'], root, cleanEnv(folder))
  }
  return { servers, worker, judge, folder, clients, ca }
}

t.test('one server is killed, and builds go on at the other', { skip: withoutHaproxy || withoutS3 }, async (t) => {
  const { servers, worker, judge } = await start(t)
  const leads = (at: number): boolean => /this server leads the queue/.test(servers[at]?.log() ?? '')
  await until(() => leads(0) || leads(1), 'a leader')
  await untilSo(async () => /connected to the scheduler/.test(worker.log()))
  const passes = async (what: string): Promise<void> => {
    const { code, output } = await judge()
    t.equal(code, 0, what) || t.comment(output)
    t.match(output, /No findings/, what)
  }
  await passes('two servers')
  const leader = leads(0) ? 0 : 1
  await servers[leader]?.kill()
  await until(() => leads(1 - leader), 'the other leads')
  await passes('one of them')
})

const bazelProgram = process.env['REMEXEC_TEST_BAZEL_4'] ?? 'bazel'
const withoutBazel =
  (await bazelRelease(bazelProgram)) === undefined ? 'needs Bazel: apt-get install bazel-bootstrap' : false
const SLOW = 24

t.test(
  'a build of Bazel goes on while the server that leads is killed',
  { skip: withoutHaproxy || withoutS3 || withoutBazel },
  async (t) => {
    const { servers, folder, clients, ca } = await start(t)
    const leads = (at: number): boolean => /this server leads the queue/.test(servers[at]?.log() ?? '')
    await until(() => leads(0) || leads(1), 'a leader')
    const workspace = await copyFixture('workspace', folder)
    const trace = join(folder, 'trace')
    for (const path of [trace, join(workspace, 'slow')]) await mkdir(path)
    await writeFile(join(workspace, 'slow', 'BUILD'), slowPackage(trace, SLOW, 1))
    const bazel = new Bazel(bazelProgram, folder, workspace)
    t.teardown(() => bazel.shutdown())
    // Bazel 4.2 trusts no authority of ours.
    const near = await tlsTunnel(t, { host: 'localhost', port: clients, ca: await readFile(ca) })
    const kill = async (): Promise<void> => {
      await until(async () => (await readdir(trace)).length >= SLOW / 3, 'a third of the actions has begun')
      const leader = leads(0) ? 0 : 1
      await servers[leader]?.kill()
      await until(() => leads(1 - leader), 'the other leads')
    }
    const options = [
      `--remote_executor=grpc://${near}`,
      '--remote_retries=30',
      '--jobs=8',
      '--noremote_upload_local_results',
    ]
    const [{ code, output, ran }] = await Promise.all([bazel.run('build', ...options, '//slow:all'), kill()])
    t.equal(code, 0, 'the build succeeds') || t.comment(output)
    const elsewhere = Object.keys(ran).filter((where) => !where.startsWith('remote'))
    t.same(elsewhere, [], 'nothing ran here')
    t.equal(await readFile(bazel.output('slow/all.txt'), 'utf8'), slowOutput(SLOW))
  },
)
