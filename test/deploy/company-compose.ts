/** The compose file of the recipe `company` as an engine runs it, used with tokens by Bazel, ccache and Turborepo. */
import { chmod, chown, copyFile, readFile, writeFile } from 'node:fs/promises'
import { request } from 'node:https'
import { join } from 'node:path'
import type { Test } from 'tap'
import { Bazel } from '../clients/bazel.js'
import { ccacheMachine } from '../clients/ccache-machine.js'
import { turbo } from '../clients/http/tools/turbo.js'
import type { Outcome } from '../clients/process.js'
import { findClient } from '../clients/recipe/recipe.js'
import { copyFixture, root, scratchFolder } from '../clients/scratch.js'
import { tlsTunnel } from '../clients/tls-tunnel.js'
import { S3_KEYS, startS3, withoutS3 } from '../store/kinds/experimental_cloud_object_store/s3-server.js'
import { freePorts } from '../store/remote/backend.js'
import { untilSo } from '../until.js'
import { makeEtc } from './recipe-etc.js'

/** Runs the compose file at a path, with variables. */
export type Compose = (path: string, env: NodeJS.ProcessEnv, ...args: readonly string[]) => Promise<Outcome>

/** The user of the image. */
const USER = 1000
const GROUPS = ['ci', 'people', 'workers', 'operators'] as const

/** Why it cannot be run here. */
export const withoutCompany = withoutS3

/** The folder that the recipe describes, with the ports, and the network of the machine because this engine has no other. */
const folderOfCompany = async (t: Test, ports: { readonly clients: number; readonly workers: number }) => {
  const folder = await scratchFolder(t)
  // For the user of the image.
  await chmod(folder, 0o755)
  const recipe = join(root, 'deploy/recipes/company')
  const { etc, ca, tokens } = await makeEtc(folder, GROUPS)
  for (const name of ['server.key', 'tokens']) await chown(join(etc, name), USER, USER)
  for (const name of ['server.json5', 'worker.json5']) await copyFile(join(recipe, name), join(folder, name))
  const compose = await readFile(join(recipe, 'compose.yaml'), 'utf8')
  const own = ['REMEXEC_HOST: 127.0.0.1', `REMEXEC_PORT: ${ports.clients}`, `REMEXEC_WORKER_PORT: ${ports.workers}`]
  const here = compose
    .replace(/^ {4}ports: .*$/m, '    network_mode: host')
    .replace(/^ {2}worker:$/m, '  worker:\n    network_mode: host')
    .replace(/^ {6}REMEXEC_ETC: \/config\/etc$/m, (line) => [line, ...own.map((one) => `      ${one}`)].join('\n'))
    .replaceAll('50051', String(ports.clients))
    .replaceAll('50061', String(ports.workers))
    .replace(/^services:/m, "version: '3.7'\nservices:")
  await writeFile(join(folder, 'compose.yaml'), here)
  return { folder, ca, tokens, file: join(folder, 'compose.yaml') }
}

/** The status and the text of a page. */
const pageOf = (url: string, ca: Buffer, token: string): Promise<{ readonly status?: number; readonly text: string }> =>
  new Promise((resolve, reject) => {
    const headers = { authorization: `Bearer ${token}` }
    request(url, { ca, headers }, (response) => {
      let text = ''
      response.setEncoding('utf8').on('data', (part: string) => {
        text += part
      })
      response.once('end', () => resolve({ ...(response.statusCode && { status: response.statusCode }), text }))
    })
      .on('error', reject)
      .end()
  })

export const useCompany = async (t: Test, composes: Compose): Promise<void> => {
  const [clients = 0, workers = 0] = await freePorts(2)
  const { folder, ca, tokens, file } = await folderOfCompany(t, { clients, workers })
  const { ci = '', people = '', operators = '' } = tokens
  const s3 = await startS3(t)
  const address = `https://localhost:${clients}`
  const env = {
    ...{ REMEXEC_ADDRESS: address, REMEXEC_NAME: 'localhost', REMEXEC_WORKER_TOKEN: tokens['workers'] },
    ...{ REMEXEC_BUCKET: s3.bucket, REMEXEC_REGION: 'us-east-1', REMEXEC_ENDPOINT: `http://127.0.0.1:${s3.port}` },
    ...{ REMEXEC_OIDC_ISSUER: 'https://login.example.com/realms/company', REMEXEC_OIDC_SECRET: 'of-the-pages' },
    ...{ AWS_ACCESS_KEY_ID: S3_KEYS.accessKeyId, AWS_SECRET_ACCESS_KEY: S3_KEYS.secretAccessKey },
    ...{ REMEXEC_ALLOW_HTTP: 'true', REMEXEC_CAS_SIZE: '20gb', REMEXEC_QUEUE_SIZE: '10gb', REMEXEC_CAS_EVICT: '1gb' },
  }
  const compose = (...args: readonly string[]): Promise<Outcome> => composes(file, env, ...args)
  t.teardown(() => compose('down', '--volumes'))
  const { code, output } = await compose('up', '--detach', '--no-build')
  t.equal(code, 0) || t.comment(output)
  const authority = await readFile(ca)
  const page = (path: string) => pageOf(`${address}${path}`, authority, operators)
  try {
    await untilSo(async () => (await page('/status').catch(() => undefined))?.status === 200)
    await untilSo(async () => /1 worker connected/.test((await page('/status')).text))
  } catch (error) {
    t.comment((await compose('logs')).output)
    throw error
  }

  const bazelProgram = await findClient('REMEXEC_TEST_BAZEL_4', 'bazel')
  await t.test('Bazel builds on its worker', { skip: bazelProgram === undefined && 'needs Bazel' }, async (t) => {
    const bazel = new Bazel(bazelProgram ?? '', folder, await copyFixture('workspace', folder))
    t.teardown(() => bazel.shutdown())
    const near = await tlsTunnel(t, { host: 'localhost', port: clients, ca: authority })
    // Without build events: this Bazel has no option for their token.
    const build = (token: string) =>
      bazel.run(
        'test',
        `--remote_executor=grpc://${near}`,
        `--remote_header=authorization=Bearer ${token}`,
        '--noremote_upload_local_results',
        '--',
        '//plain/...',
      )
    const refused = await build('rmx_nobody')
    t.not(refused.code, 0)
    t.match(refused.output, /UNAUTHENTICATED/)
    for (const [token, runner] of [
      [ci, 'remote'],
      [people, 'remote cache hit'],
    ] as const) {
      const { code, output, ran } = await build(token)
      t.equal(code, 0, runner) || t.comment(output)
      t.same(Object.keys(ran), [runner])
      await bazel.clean()
    }
    t.match(await page('/workers'), { status: 200, text: /worker_0/ }, 'an operator sees the worker')
  })

  const ccache = process.env['REMEXEC_TEST_CCACHE']
  await t.test('ccache compiles once', { skip: ccache === undefined && 'needs ccache 4.13' }, async (t) => {
    const { compile, log } = await ccacheMachine(t, ccache ?? '')
    const storage = `grpcs://localhost:${clients}/main @ca=${ca} @bearer-token=`
    t.match(await compile(`${storage}${ci}`), { code: 0, hits: 0, misses: 1, errors: 0 }) || t.comment(await log())
    t.match(await compile(`${storage}${people}`), { code: 0, hits: 1, misses: 0, errors: 0 }, 'a developer reads it')
  })

  await t.test('Turborepo builds once', { skip: turbo.skip }, async (t) => {
    const work = await turbo.prepare(t, await scratchFolder(t))
    const settings = { SSL_CERT_FILE: ca, TURBO_TOKEN: ci }
    const first = await work.build(`${address}/turbo`, settings)
    t.equal(first.code, 0) || t.comment(first.output)
    t.notMatch(first.output, work.saysRemote ?? '')
    const second = await work.build(`${address}/turbo`, { ...settings, TURBO_TOKEN: people })
    t.match(second.output, work.saysRemote ?? '', 'a developer reads it')
  })

  await untilSo(async () => (await s3.objects()).length > 0)
  t.match(await compose('down'), { code: 0 })
}
