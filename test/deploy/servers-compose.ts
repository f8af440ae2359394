/** The compose file of the recipe `servers` as an engine runs it: a server that leads is killed, and builds go on. */
import { chmod, chown, copyFile, readFile, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import type { Test } from 'tap'
import { cleanEnv, run } from '../clients/process.js'
import { root } from '../clients/scratch.js'
import { S3_KEYS, startS3, withoutS3 } from '../store/kinds/experimental_cloud_object_store/s3-server.js'
import { found } from '../until.js'
import type { Compose } from './company-compose.js'
import { prepareServers, RECIPE, type ServersRecipe } from './servers-recipe.js'

/** Why it cannot be run here. */
export const withoutServers = withoutS3

/** The user of the image. */
const USER = 1000

/** The network of the machine, because this engine has no other, and ports of its own for each server. */
const composeFile = async ({ folder, ports, clients, workers }: ServersRecipe): Promise<string> => {
  let text = await readFile(join(RECIPE, 'compose.yaml'), 'utf8')
  for (const [at, own] of ports.entries()) {
    const lines = [
      `REMEXEC_PEER: localhost:${own.peers}`,
      'REMEXEC_HOST: 127.0.0.1',
      ...[`REMEXEC_PORT: ${own.clients}`, `REMEXEC_WORKER_PORT: ${own.workers}`, `REMEXEC_PEERS_PORT: ${own.peers}`],
    ]
    text = text.replace(`      REMEXEC_PEER: server-${at + 1}:50062`, lines.map((line) => `      ${line}`).join('\n'))
  }
  text = text
    .replace(/^ {4}ports: .*$/m, '    network_mode: host')
    .replace(/^ {2}worker:$/m, '  worker:\n    network_mode: host')
    .replace(/^x-server: &server$/m, 'x-server: &server\n  network_mode: host')
    .replace('balancer:50051', `localhost:${clients}`)
    .replace('balancer:50061', `localhost:${workers}`)
  const file = join(folder, 'compose.yaml')
  await writeFile(file, `version: '3.7'\n${text}`)
  return file
}

/** With this image of HAProxy. */
export const useServers = async (t: Test, composes: Compose, haproxyImage: string): Promise<void> => {
  const recipe = await prepareServers(t)
  const { folder, etc, ca, tokens, clients } = recipe
  // For the user of the image.
  await chmod(folder, 0o755)
  for (const name of ['server.key', 'tokens']) await chown(join(etc, name), USER, USER)
  for (const name of ['server.json5', 'worker.json5']) await copyFile(join(RECIPE, name), join(folder, name))
  const file = await composeFile(recipe)
  const s3 = await startS3(t)
  const env = {
    ...{ REMEXEC_BUCKET: s3.bucket, REMEXEC_REGION: 'us-east-1', REMEXEC_ENDPOINT: `http://127.0.0.1:${s3.port}` },
    ...{ AWS_ACCESS_KEY_ID: S3_KEYS.accessKeyId, AWS_SECRET_ACCESS_KEY: S3_KEYS.secretAccessKey },
    ...{ REMEXEC_ALLOW_HTTP: 'true', REMEXEC_CAS_SIZE: '1gb', REMEXEC_CAS_EVICT: '50mb' },
    ...{ REMEXEC_PEER_TOKEN: tokens['peers'], REMEXEC_WORKER_TOKEN: tokens['workers'], HAPROXY_IMAGE: haproxyImage },
  }
  const compose = (...args: readonly string[]) => composes(file, env, ...args)
  t.teardown(() => compose('down', '--volumes'))
  const { code, output } = await compose('up', '--detach', '--no-build')
  t.equal(code, 0) || t.comment(output)
  const said = async (service: string): Promise<string> => (await compose('logs', '--no-color', service)).output
  /** The service that said most recently that it leads, beside those that are gone. */
  const leaderBut = async (gone = ''): Promise<string | undefined> => {
    for (const service of ['server-1', 'server-2'])
      if (service !== gone && /this server leads the queue/.test(await said(service))) return service
    return undefined
  }
  const builds = async (what: string): Promise<void> => {
    const at = [`grpcs://localhost:${clients}`, '--tls-ca', ca, '--header', `authorization=Bearer ${tokens['ci']}`]
    const suite = ['--import', 'tsx', 'conformance/main.ts', ...at, '--only', 'CMD', '--quiet', '--patience', '6']
    const judged = await run(process.execPath, suite, root, cleanEnv(folder))
    t.equal(judged.code, 0, what) || t.comment(judged.output)
    t.match(judged.output, /No findings/, what)
  }
  try {
    const leader = await found(leaderBut, 'a server that leads')
    await found(async () => /connected to the scheduler/.exec(await said('worker')), 'the worker')
    await builds('two servers')
    t.match(await compose('kill', leader), { code: 0 })
    await found(() => leaderBut(leader), 'the other leads')
    await builds('one of them')
  } catch (error) {
    t.comment((await compose('logs')).output)
    throw error
  }
  t.match(await compose('down'), { code: 0 })
}
