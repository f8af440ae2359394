/** Fleets with the configurations, tokens and certificates of deploy/chart, as processes of this machine. */
import { mkdir, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import t, { type Test } from 'tap'
import { cleanEnv, type Outcome, run } from '../clients/process.js'
import { root, scratchFolder } from '../clients/scratch.js'
import { startRedis, withoutRedis } from '../store/kinds/redis_store/redis.js'
import { type Backend, freePorts, startBackend } from '../store/remote/backend.js'
import { TcpProxy } from '../store/remote/proxy.js'
import { Authority } from '../tls/authority.js'
import { until, untilSo } from '../until.js'
import { configOf, helm, rendered, tokenOf } from './rendered.js'

// For changes in: deploy/chart, src/assembly, src/config, src/scheduler, src/security

t.setTimeout(600_000)

const skip = helm === undefined ? 'needs helm: .ci/bring brings it' : false

type Env = Readonly<Record<string, string>>

/** Starts parts of a fleet whose Secrets are files here. */
const fleetOf = async (t: Test, values: readonly string[], addresses: Env) => {
  const folder = await scratchFolder(t)
  const authority = new Authority(join(folder, 'authority'))
  const { certFile, keyFile } = authority.issue('fleet')
  const manifests = await rendered(t, ['tls.enabled=true', 'tls.secretName=cert', ...values])
  await writeFile(join(folder, 'tokens'), tokenOf(manifests, 'tokens'), { mode: 0o600 })
  const begin = async (part: string, pod: string, env: Env): Promise<Backend> => {
    const config = configOf(manifests, part)
      .replaceAll('/tls/tls.crt', certFile)
      .replaceAll('/tls/tls.key', keyFile)
      .replaceAll('/tls/ca.crt', authority.caFile)
      .replaceAll('/tokens/tokens', join(folder, 'tokens'))
    await writeFile(join(folder, `${part}.json5`), config)
    const data = join(folder, pod)
    await mkdir(data)
    const own = { REMEXEC_DATA: data, REMEXEC_SCHEME: 'grpcs', REMEXEC_TOKEN: tokenOf(manifests, 'fleet') }
    const size = { REMEXEC_SLOTS: '2', REMEXEC_CPUS: '2', REMEXEC_MEMORY_KB: '1000000' }
    const all = { ...process.env, ...own, ...size, ...addresses, ...env }
    const args = [join(root, 'dist/cli.js'), join(folder, `${part}.json5`)]
    return startBackend(t, process.execPath, args, /remexec serving/, { cwd: folder, env: all })
  }
  const judge = (port: number, token: string): Promise<Outcome> => {
    const at = [`grpcs://localhost:${port}`, '--tls-ca', authority.caFile, '--header', `authorization=Bearer ${token}`]
    const suite = ['--import', 'tsx', 'conformance/main.ts', ...at, '--only', 'CMD', '--quiet', '--patience', '4']
    return run(process.execPath, suite, root, cleanEnv(folder))
  }
  return { begin, judge, manifests }
}

const isReady = async (port: number): Promise<boolean> => (await fetch(`http://127.0.0.1:${port}/status/ready`)).ok

const findsNothing = (t: Test, { code, output }: Outcome): void => {
  t.equal(code, 0) || t.comment(output)
  t.match(output, /No findings/)
}

t.test('the fleet runs with TLS and the tokens of the chart, and refuses who has none', { skip }, async (t) => {
  const [server = 0, scheduler = 0, workers = 0, health = 0] = await freePorts(4)
  const { begin, judge, manifests } = await fleetOf(t, [], {
    REMEXEC_SERVER: `localhost:${server}`,
    REMEXEC_SCHEDULER: `localhost:${scheduler}`,
    REMEXEC_WORKER_API: `localhost:${workers}`,
  })
  await Promise.all([
    begin('server', 'server', { REMEXEC_PORT: `${server}` }),
    begin('scheduler', 'scheduler', { REMEXEC_PORT: `${scheduler}`, REMEXEC_WORKER_PORT: `${workers}` }),
    begin('worker', 'worker', { REMEXEC_PORT: `${health}` }),
  ])
  await untilSo(() => isReady(health))
  findsNothing(t, await judge(server, tokenOf(manifests, 'clients')))
  t.not((await judge(server, 'none')).code, 0, 'a token that nobody made')
})

t.test(
  'two schedulers of the chart: the one that leads is killed, and the fleet goes on with the other',
  { skip: skip || withoutRedis },
  async (t) => {
    const redis = await startRedis(t)
    const [server = 0, health = 0, ...own] = await freePorts(8)
    const pods = [own.slice(0, 3), own.slice(3)] as const
    // What the service of the chart is: one address, with whoever is there behind it.
    const clients = await TcpProxy.start(t, pods[0][0] ?? 0)
    const workers = await TcpProxy.start(t, pods[0][1] ?? 0)
    const values = ['scheduler.replicas=2', `scheduler.redis.addresses[0]=${redis.address}`]
    const { begin, judge, manifests } = await fleetOf(t, values, {
      REMEXEC_SERVER: `localhost:${server}`,
      REMEXEC_SCHEDULER: `localhost:${clients.port}`,
      REMEXEC_WORKER_API: `localhost:${workers.port}`,
    })
    const schedulers = await Promise.all(
      pods.map(([port, workerPort, peers], at) =>
        begin('scheduler', `schedulers-${at}`, {
          ...{ REMEXEC_PORT: `${port}`, REMEXEC_WORKER_PORT: `${workerPort}`, REMEXEC_PEERS_PORT: `${peers}` },
          ...{ REMEXEC_PEER: `localhost:${peers}`, REMEXEC_PEER_TOKEN: tokenOf(manifests, 'peers') },
        }),
      ),
    )
    const leads = (at: number): boolean => /this server leads the queue/.test(schedulers[at]?.log() ?? '')
    await until(() => leads(0) || leads(1), 'a leader')
    const [leader, follower] = leads(0) ? [0, 1] : [1, 0]
    const pointTo = (pod: readonly number[]): void => {
      clients.backendPort = pod[0] ?? 0
      workers.backendPort = pod[1] ?? 0
    }
    pointTo(pods[follower] ?? [])
    await begin('server', 'server', { REMEXEC_PORT: `${server}` })
    await begin('worker', 'worker', { REMEXEC_PORT: `${health}` })
    await untilSo(() => isReady(health))
    findsNothing(t, await judge(server, tokenOf(manifests, 'clients')))
    await schedulers[leader]?.kill()
    await until(() => leads(follower), 'the other leads')
    findsNothing(t, await judge(server, tokenOf(manifests, 'clients')))
  },
)
