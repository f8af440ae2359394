/** The recipe `company`: tokens of CI jobs come from issuers of this test, over the real server with TLS. */
import { execFile, execFileSync, spawnSync } from 'node:child_process'
import { copyFileSync, readFileSync, writeFileSync } from 'node:fs'
import { createServer } from 'node:http'
import { request } from 'node:https'
import type { AddressInfo } from 'node:net'
import { promisify } from 'node:util'
import { credentials, Metadata } from '@grpc/grpc-js'
import { exportJWK, generateKeyPair, SignJWT } from 'jose'
import t, { type Test } from 'tap'
import { parseConfig } from '../src/config/load.js'
import { AccessRules } from '../src/security/access.js'
import { ScopeRules } from '../src/security/scopes.js'
import { program, root, serve } from './cli/program.js'
import { collect, TestClient } from './server/client.js'
import { buildAction, EXECUTION, responseOf } from './service/execution-harness.js'
import { AC, blobOf, CAPABILITIES, CAS, failure, wire } from './service/harness.js'
import { S3_KEYS, startS3, withoutS3 } from './store/kinds/experimental_cloud_object_store/s3-server.js'
import { Authority } from './tls/authority.js'

const folderOf = `${root}deploy/recipes/company/`
const GROUPS = ['ci', 'people', 'workers', 'operators']

/** A certificate, tokens and the variables of a company whose bucket does not answer. */
const company = (t: Test) => {
  const folder = t.testdir({ data: {}, worker: {} })
  const authority = new Authority(`${folder}/authority`)
  const { certFile, keyFile } = authority.issue('server')
  const made = GROUPS.map((group) => {
    const text = execFileSync(process.execPath, [program, 'token', `a-${group}`, '--group', group], {
      encoding: 'utf8',
    })
    return { group, token: /nowhere: (\S+)/.exec(text)?.[1] ?? '', line: /tokens_file: (.*)/.exec(text)?.[1] ?? '' }
  })
  writeFileSync(`${folder}/tokens`, made.map(({ line }) => `${line}\n`).join(''), { mode: 0o600 })
  copyFileSync(certFile, `${folder}/server.pem`)
  copyFileSync(keyFile, `${folder}/server.key`)
  copyFileSync(authority.caFile, `${folder}/ca.pem`)
  const config = `${folder}/server.json5`
  const text = readFileSync(`${folderOf}server.json5`, 'utf8')
  writeFileSync(config, text, { mode: 0o600 })
  const env = {
    ...{ REMEXEC_HOST: '127.0.0.1', REMEXEC_ETC: folder, REMEXEC_CAS_SIZE: '1gb', REMEXEC_CAS_EVICT: '50mb' },
    ...{
      REMEXEC_QUEUE_SIZE: '500mb',
      REMEXEC_ENDPOINT: 'http://127.0.0.1:1',
      REMEXEC_ALLOW_HTTP: 'true',
      REMEXEC_OIDC_SECRET: 'of-the-pages',
    },
    ...{ AWS_ACCESS_KEY_ID: S3_KEYS.accessKeyId, AWS_SECRET_ACCESS_KEY: S3_KEYS.secretAccessKey },
    ...{ REMEXEC_REGION: 'us-east-1', REMEXEC_BUCKET: 'builds' },
    ...{ REMEXEC_GITHUB_OWNER: 'acme', REMEXEC_GITLAB_GROUP: 'acme' },
  }
  const tokenOf = (group: string): string => made.find((one) => one.group === group)?.token ?? ''
  return { folder, authority, config, env, tokenOf }
}

/** What `remexec COMMAND FILE` says. */
const says = (command: string, config: string, data: string, env: NodeJS.ProcessEnv) => {
  const own = { PATH: process.env['PATH'], HOME: data, REMEXEC_DATA: data, ...env }
  // Ports that the system chooses: others may be in use here.
  const ports = { REMEXEC_PORT: '0', REMEXEC_WORKER_PORT: '0' }
  const { status, stdout } = spawnSync(process.execPath, [program, command, config], {
    encoding: 'utf8',
    env: { ...ports, ...own },
  })
  return { status, text: stdout }
}

t.test('validate finds nothing to say about the server and the worker', async (t) => {
  const { folder, env } = company(t)
  for (const file of ['server', 'worker']) {
    const { status, text } = says('validate', `${folderOf}${file}.json5`, folder, { ...env, REMEXEC_TOKEN: 'a-token' })
    t.equal(status, 0)
    t.match(text, /valid \(0 errors, 0 warnings\)/)
    t.notMatch(text, /: (warning|error): /)
  }
})

t.test('validate refuses a server without the secret of its provider, and a worker without a token', async (t) => {
  const { folder, env } = company(t)
  const { REMEXEC_OIDC_SECRET: _, ...rest } = env
  t.match(says('validate', `${folderOf}server.json5`, folder, rest), {
    status: 1,
    text: /REMEXEC_OIDC_SECRET is not set/,
  })
  t.match(says('validate', `${folderOf}worker.json5`, folder, rest), { status: 1, text: /REMEXEC_TOKEN is not set/ })
})

t.test('doctor finds nothing to say where the bucket answers', { skip: withoutS3 }, async (t) => {
  const { folder, config, env } = company(t)
  const s3 = await startS3(t)
  const { status, text } = says('doctor', config, `${folder}/data`, {
    ...env,
    REMEXEC_ENDPOINT: `http://127.0.0.1:${s3.port}`,
    REMEXEC_ALLOW_HTTP: 'true',
  })
  t.match(text, /^0 errors, 0 warnings, \d+ checks passed$/m)
  t.equal(status, 0) || t.comment(text)
})

t.test('doctor names the bucket that does not answer, and nothing else', async (t) => {
  const { folder, config, env } = company(t)
  const { text } = says('doctor', config, `${folder}/data`, env)
  const subjects = [...text.matchAll(/^(?:error|warning) +([^:]+):/gm)].map(([, subject = '']) => subject)
  t.ok(subjects.length > 0)
  t.same(
    subjects.filter((subject) => !/^backend of store (CAS|AC)\/slow/.test(subject)),
    [],
  ) || t.comment(text)
})

const GITHUB = 'https://token.actions.githubusercontent.com'
const GITLAB = 'https://gitlab.com'
const LOGIN = 'https://login.example.com/realms/company'
const push = { iss: GITHUB, repository_owner: 'acme', ref: 'refs/heads/main', event_name: 'push' }
const protectedPush = {
  ...{ iss: GITLAB, project_path: 'acme/team/app', ref_type: 'branch', ref_protected: 'true' },
  pipeline_source: 'push',
}
const WRITES = 'read_cas write_cas read_ac write_ac execute'
/** What others of its scope alone read. */
const APART = `${WRITES} apart`

/** Claims, and what they permit. */
const JOBS: Readonly<Record<string, readonly [claims: Record<string, unknown>, groups: string[], may: string]>> = {
  'GitHub: a push to main': [push, [], WRITES],
  'GitHub: a push to another branch': [{ ...push, ref: 'refs/heads/maint' }, [], APART],
  'GitHub: a pull request': [{ ...push, ref: 'refs/pull/7/merge', event_name: 'pull_request' }, [], APART],
  'GitHub: code of a fork with the ref of main': [{ ...push, event_name: 'pull_request_target' }, [], APART],
  'GitHub: another owner': [{ ...push, repository_owner: 'acme-fake' }, [], ''],
  'GitHub: the claims of GitLab': [{ ...protectedPush, iss: GITHUB }, [], ''],
  'GitHub: groups that other sources have': [{ iss: GITHUB, repository_owner: 'x' }, [...GROUPS, 'developers'], ''],
  'GitLab: a protected branch': [protectedPush, [], WRITES],
  'GitLab: another branch': [{ ...protectedPush, ref_protected: 'false' }, [], APART],
  'GitLab: a protected tag': [{ ...protectedPush, ref_type: 'tag' }, [], APART],
  'GitLab: a merge request': [{ ...protectedPush, pipeline_source: 'merge_request_event' }, [], APART],
  'GitLab: a group whose name begins the same': [{ ...protectedPush, project_path: 'acme2/app' }, [], ''],
  'GitLab: the claims of GitHub': [{ ...push, iss: GITLAB }, [], ''],
  'a reader of the pages': [{ iss: LOGIN }, ['developers'], 'read_cas read_ac'],
  'an operator at the pages': [{ iss: LOGIN }, ['operators'], 'administer read_cas read_ac'],
  'somebody without a group': [{ iss: LOGIN }, [], ''],
  'a group of tokens at the provider': [{ iss: LOGIN }, ['workers', 'ci'], ''],
}

t.test('claims give rights, and none without the names of owner and group', async (t) => {
  const text = readFileSync(`${folderOf}server.json5`, 'utf8')
  const rightsWith = (env: Record<string, string>) => {
    const { config } = parseConfig(text, 'server.json5', { env: { HOME: '/', REMEXEC_OIDC_SECRET: 'x', ...env } })
    const rules = new AccessRules(config?.security?.access)
    const scopes = new ScopeRules(config?.security?.scopes)
    return (claims: Record<string, unknown>, groups: readonly string[]) => {
      const identity = { kind: 'jwt', name: 'a-job', groups, claims } as const
      const rights = rules.rightsOf(identity)
      const isApart = scopes.scopeOf(identity, 'main') !== undefined
      const all = ['read_cas', 'write_cas', 'read_ac', 'write_ac', 'execute', 'push'] as const
      const may = all.filter((permission) => rights.mayIn('main', permission))
      return { may, isApart, administers: rights.administers, works: rights.mayWorkFor('MAIN') }
    }
  }
  const rightsOf = rightsWith({ REMEXEC_GITHUB_OWNER: 'acme', REMEXEC_GITLAB_GROUP: 'acme' })
  const unnamed = rightsWith({})
  for (const [name, [claims, groups, may]] of Object.entries(JOBS)) {
    const expected = may.split(' ').filter((word) => word !== '' && word !== 'administer' && word !== 'apart')
    const { isApart, ...rights } = rightsOf(claims, groups)
    t.same(rights, { may: expected, administers: may.includes('administer'), works: false }, name)
    if (may.includes('write_ac')) t.equal(isApart, may === APART, `${name}: where it writes`)
    if (claims['iss'] !== LOGIN) t.same(unnamed(claims, groups).may, [], `${name}, if nobody is named`)
  }
})

/** A CI system: its keys, and tokens for its jobs. */
const startIssuer = async (t: Test) => {
  const { privateKey, publicKey } = await generateKeyPair('RS256')
  const keys = [{ ...(await exportJWK(publicKey)), use: 'sig', alg: 'RS256', kid: 'one' }]
  const server = createServer(({ url, headers }, response) => {
    response.setHeader('content-type', 'application/json')
    if (url === '/.well-known/openid-configuration') {
      response.end(JSON.stringify({ issuer, jwks_uri: `${issuer}/jwks` }))
    } else if (url === '/jwks') response.end(JSON.stringify({ keys }))
    else if (url?.startsWith('/token?') === true && headers.authorization === 'bearer of-the-job')
      // As https://docs.github.com/actions/reference/security/oidc says.
      void sign(push, new URL(url, issuer).searchParams.get('audience') ?? '')
        .then((value) => response.end(JSON.stringify({ count: 1, value })))
        .catch(t.threw)
    else response.writeHead(404).end()
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  t.teardown(() => {
    server.closeAllConnections()
    server.close()
  })
  const issuer = `http://127.0.0.1:${(server.address() as AddressInfo).port}`
  const sign = (claims: object, audience = 'remexec'): Promise<string> =>
    new SignJWT({ ...claims, iss: issuer, sub: 'a job' })
      .setProtectedHeader({ alg: 'RS256', kid: 'one' })
      .setAudience(audience)
      .setIssuedAt()
      .setExpirationTime('10m')
      .sign(privateKey)
  return { issuer, sign }
}

const bearer = (token: string): Metadata => {
  const metadata = new Metadata()
  metadata.set('authorization', `Bearer ${token}`)
  return metadata
}

t.test('compose.yaml sets the variables that server and worker read, and each one that has no default', async (t) => {
  const [, server = '', worker = ''] = readFileSync(`${folderOf}compose.yaml`, 'utf8').split(
    /^ {2}(?:server|worker):$/m,
  )
  for (const [part, text] of Object.entries({ server, worker })) {
    const given = [...text.matchAll(/^ {6}(REMEXEC_\w+):/gm)].map(([, name = '']) => name)
    const read = readFileSync(`${folderOf}${part}.json5`, 'utf8')
    t.ok(given.length > 3)
    for (const name of given) t.match(read, `\${${name}`, `${part} reads ${name}`)
    // The image sets its folder for data and its host.
    const needed = [...read.matchAll(/\$\{(\w+)\}/g)].map(([, name = '']) => name)
    t.ok(needed.length > 0)
    for (const name of needed) t.ok(given.includes(name), `${part} is given ${name}`)
  }
})

/** What the credential helper of the recipe prints. */
const helper = async (env: NodeJS.ProcessEnv): Promise<string> => {
  const asked = promisify(execFile)(`${folderOf}remexec-credentials`, ['get'], {
    env: { PATH: process.env['PATH'], ...env },
  })
  asked.child.stdin?.end(JSON.stringify({ uri: 'https://cache.example.com' }))
  return JSON.parse((await asked).stdout).headers.Authorization[0]
}

t.test('the credential helper gives the token of the job or of the environment, or says what it lacks', async (t) => {
  t.equal(await helper({ REMEXEC_TOKEN: 'a-token' }), 'Bearer a-token')
  await t.rejects(helper({}), /no token: expected REMEXEC_TOKEN/)
})

t.test('a job of CI executes on a worker elsewhere with its own token, and people see pages', async (t) => {
  const { folder, authority, config, env, tokenOf } = company(t)
  const [github, gitlab] = [await startIssuer(t), await startIssuer(t)]
  const issuers = { REMEXEC_GITHUB_ISSUER: github.issuer, REMEXEC_GITLAB_ISSUER: gitlab.issuer }
  const server = serve(t, config, `${folder}/data`, { ...env, ...issuers })
  const [, port = ''] = await server.hears(/serving grpcs:\/\/\S+:(\d+) server=public/)
  const [, workers = ''] = await server.hears(/serving grpcs:\/\/\S+:(\d+) server=workers/)
  const worker = serve(t, `${folderOf}worker.json5`, `${folder}/worker`, {
    ...{ ...env, REMEXEC_TOKEN: tokenOf('workers') },
    ...{ REMEXEC_SERVER: `localhost:${port}`, REMEXEC_WORKER_API: `localhost:${workers}` },
  })
  await worker.hears(/connected to the scheduler/)

  const client = new TestClient(`localhost:${port}`, {}, credentials.createSsl(authority.ca))
  t.teardown(() => client.close())
  const job = new Metadata()
  const token = {
    ACTIONS_ID_TOKEN_REQUEST_URL: `${github.issuer}/token?v=2`,
    ACTIONS_ID_TOKEN_REQUEST_TOKEN: 'of-the-job',
  }
  job.set('authorization', await helper(token))
  const built = buildAction({ command: { arguments: ['/bin/sh', '-c', 'echo from afar'] } })
  const blobs = [built.action, built.command, built.root].map(({ bytes: data }) => data)
  const requests = blobs.map((data) => ({ digest: wire(blobOf(data).digest), data }))
  await client.unary(`${CAS}/BatchUpdateBlobs`, { requests }, { metadata: job }).response
  const execute = { actionDigest: wire(built.digest) }
  const { messages } = await collect(client.serverStream(`${EXECUTION}/Execute`, execute, { metadata: job }))
  t.match(responseOf(messages.at(-1)), { result: { exitCode: 0 } })

  const mergeRequest = bearer(await gitlab.sign({ ...protectedPush, pipeline_source: 'merge_request_event' }))
  const get = client.unary(`${AC}/GetActionResult`, { ...execute, inlineStdout: true }, { metadata: mergeRequest })
  t.equal((await get.response).stdoutRaw.toString(), 'from afar\n')
  const update = { ...execute, actionResult: { exitCode: 0 } }
  const write = (metadata: Metadata) => client.unary(`${AC}/UpdateActionResult`, update, { metadata }).response
  t.match(await failure(write(mergeRequest)), { code: 'OK' })
  const again = client.unary(`${AC}/GetActionResult`, { ...execute, inlineStdout: true }, { metadata: job })
  t.equal((await again.response).stdoutRaw.toString(), 'from afar\n', 'main reads what the worker wrote')
  await write(bearer(await gitlab.sign(protectedPush)))

  const ask = (metadata: Metadata) => client.unary(`${CAPABILITIES}/GetCapabilities`, {}, { metadata }).response
  t.match(await failure(ask(bearer(await github.sign(push, 'another service')))), { code: 'UNAUTHENTICATED' })
  t.match(await failure(ask(bearer(await github.sign({ ...push, repository_owner: 'else' })))), { code: /./ })

  const page = (path: string, token?: string) =>
    new Promise<{ status: number | undefined; location: string | undefined }>((resolve, reject) => {
      const headers = token === undefined ? {} : { authorization: `Bearer ${token}` }
      request({ host: 'localhost', port, path, ca: authority.ca, headers }, (response) => {
        const { statusCode: status, headers } = response.resume()
        resolve({ status, location: headers.location })
      })
        .on('error', reject)
        .end()
    })
  t.match(await page('/', tokenOf('operators')), { status: 200 })
  t.match(await page('/metrics', tokenOf('operators')), { status: 200 })
  t.match(await page('/metrics', tokenOf('people')), { status: 403 })
  t.match(await page('/files/none', tokenOf('people')), { status: 404 }, 'a miss')
  t.match(await page('/files/none'), { status: 401 })
})
