import { spawnSync } from 'node:child_process'
import { appendFileSync, chmodSync, writeFileSync } from 'node:fs'
import { fileURLToPath } from 'node:url'
import { hashSync } from 'bcryptjs'
import t from 'tap'
import { checkConfig } from '../../src/config/load.js'
import { validateCommand } from '../../src/config/validate-command.js'
import { withoutSecrets } from '../../src/log/secrets.js'
import { hashOf } from '../../src/security/identity/credential.js'
import { newToken } from '../../src/security/identity/tokens.js'
import { tokenCommand } from '../../src/security/token-command.js'
import { start } from '../cli/program.js'
import { TestClient } from '../server/client.js'
import { CAPABILITIES, failure } from '../service/harness.js'
import { bearer, startGuarded } from './server.js'

const root = fileURLToPath(new URL('../..', import.meta.url))
const cli = ['dist/cli.js']
const remexec = (...args: readonly string[]) =>
  spawnSync(process.execPath, [...cli, ...args], { cwd: root, encoding: 'utf8' })

t.test('a text of dots and letters holds nobody up for hours', async (t) => {
  const text = `${'a.'.repeat(200_000)} https://ann:hunter2@host`
  t.equal(withoutSecrets(text), `${'a.'.repeat(200_000)} https://***@host`)
})

t.test('remexec token prints a token once, and its line for the server', async (t) => {
  const { status, stdout, stderr } = remexec('token', 'ci', '--group', 'builders', '--group', 'writers')
  t.equal(status, 0, stderr)
  const [, token = ''] = /^token.*: (rmx_[\w-]{43})$/m.exec(stdout) ?? []
  const [, line = ''] = /^line for tokens_file: (.*)$/m.exec(stdout) ?? []
  t.equal(line, `ci ${hashOf(token)} builders,writers`)
  const file = `${t.testdir()}/tokens`
  writeFileSync(file, `${line}\n`)
  const access = [{ groups: ['writers'], may: ['read_cas'] }]
  const { client } = await startGuarded(t, { identity: { tokens_file: file }, access })
  const asked = (metadata: ReturnType<typeof bearer>) =>
    failure(client.unary(`${CAPABILITIES}/GetCapabilities`, { instanceName: 'main' }, { metadata }).response)
  t.equal((await asked(bearer(token))).code, 'OK')
  t.equal((await asked(bearer(line.split(' ')[1] ?? ''))).code, 'UNAUTHENTICATED', 'its hash is no token')
})

t.test('tokens are unique, and one without groups is a line of two words', async (t) => {
  const printed = Array.from({ length: 100 }, () => {
    let text = ''
    const print = (some: string): void => {
      text += some
    }
    t.equal(tokenCommand('ann', { groups: [], scope: undefined }, print), 0)
    return text
  })
  t.equal(new Set(printed).size, 100)
  t.match(printed[0], /^line for tokens_file: ann [0-9a-f]{64}$/m)
})

t.test('sentences about tokens are not hidden as if they were tokens', async (t) => {
  for (const text of ['the bearer token is not known here', 'expected Basic authorization', 'no Bearer tokens'])
    t.equal(withoutSecrets(text), text)
  for (const text of ['Bearer tokenized.1', 'Bearer abc', 'Basic YTpi', 'bearer authAQ==', 'Bearer token-1'])
    t.match(withoutSecrets(text), /^\w+ \*\*\*$/)
})

t.test('a token without a name, or with a name that no line can have, is rejected', async (t) => {
  for (const [args, message] of [
    [['token'], /expected one NAME/],
    [['token', 'a b'], /without blanks/],
    [['token', 'a', 'b'], /expected one NAME/],
    [['token', '#a'], /expected one NAME/],
    [['token', 'a', '--group', 'b,c'], /without blanks and commas/],
    [['--group', 'b', 'x.json5'], /'--group': it belongs to remexec token/],
  ] as const) {
    const { status, stderr, stdout } = remexec(...args)
    t.equal(status, 2, args.join(' '))
    t.match(stderr, message)
    t.equal(stdout, '')
  }
})

const memory = `{ memory: { eviction_policy: { max_bytes: 1000 } } }`
const configOf = (parts: { readonly security?: string; readonly stores?: string; readonly listener?: string }) => `{
  stores: { CAS: ${memory}, AC: ${memory}, ${parts.stores ?? ''} },
  servers: [{
    listener: { http: { socket_address: '127.0.0.1:0', ${parts.listener ?? ''} } },
    services: { cas: [{ cas_store: 'CAS' }], ac: [{ ac_store: 'AC' }] },
  }],
  ${parts.security === undefined ? '' : `security: { ${parts.security} },`}
}`

const validated = async (folder: string, text: string, env: NodeJS.ProcessEnv = {}): Promise<string> => {
  writeFileSync(`${folder}/config.json5`, text)
  let said = ''
  for (const format of ['human', 'json'] as const) {
    const options = { format, explains: format === 'human' }
    const write = (some: string): void => {
      said += some
    }
    await validateCommand([`${folder}/config.json5`], options, write, { env })
  }
  return said
}

t.test('findings about security in a configuration that contradicts itself, or admits all', async (t) => {
  const folder = t.testdir()
  const tokens = `tokens: [{ name: 'a', sha256: '${hashOf('a')}' }]`
  const jwt = (issuer: string) => `identity: { jwt: [{ issuer: 'https://idp.example', audiences: ['x'], ${issuer} }] }`
  for (const [security, said, listener] of [
    [`access: [{ anonymous: true, may: ['read_cas'] }]`, /: valid/, ''],
    [`identity: { ${tokens} }`, /: valid/, ''],
    [`identity: { ${tokens} }`, /is without TLS: who listens on the network learns the tokens/, 'socket_address_: 0'],
    [`access: [{ anonymous: true, names: ['a'], may: ['read_cas'] }]`, /a rule for everybody cannot also be for/, ''],
    [`access: [{ may: ['fly'] }]`, /read_cas/, ''],
    [jwt(`jwks_uri: 'http://keys.example/'`), /could replace the keys fetched from there/, ''],
    [jwt(`jwks_uri: 'https://keys.example/', jwks_file: '/k'`), /said to be in two places/, ''],
    [`identity: { ${tokens} }, request_limits: [{ requests_per_s: 0 }]`, /must be > 0/, ''],
    [
      `identity: { ${tokens} }, request_limits: [{ anonymous: true, names: ['a'], requests_per_s: 1 }]`,
      /cannot also be for/,
      '',
    ],
  ] as const) {
    const text = configOf({ security })
    const open = listener === '' ? text : text.replace('127.0.0.1:0', '0.0.0.0:0')
    t.match(await validated(folder, open), said, security)
  }
})

const SECRETS = ['sesame-in-a-header', 'sesame-in-a-url', 'sesame-of-the-bucket', 'sesame-of-the-environment']

/** Every place for a secret, some with errors. */
const leaky = (isWrong: boolean) =>
  configOf({
    stores: `
    REMOTE: { grpc: { instance_name: '', store_type: 'cas', endpoints: [{ address: 'grpc://127.0.0.1:1' }], headers: { authorization: 'Bearer sesame-in-a-header' ${isWrong ? `, x: ['sesame-in-a-header']` : ''} } } },
    REDIS: { redis_store: { addresses: ['redis://me:sesame-in-a-url@127.0.0.1:1'] ${isWrong ? `, nonsense: 'redis://me:sesame-in-a-url@h'` : ''} } },
    ${isWrong ? `S3: { experimental_cloud_object_store: { provider: 'generic', bucket: 'b', secret_access_key: 'sesame-of-the-bucket', access_key_id: 3, wrong: 1 } },` : ''}
    ENV: { memory: { eviction_policy: { max_bytes: '\${${isWrong ? 'MY_TOKEN' : 'SIZE'}}' } } },`,
  })

t.test('validate prints no secret, wherever it is and whatever is wrong around it', async (t) => {
  const env = { MY_TOKEN: 'sesame-of-the-environment', SIZE: '1000' }
  const wrong = await validated(t.testdir(), leaky(true), env)
  t.match(wrong, /eviction_policy\.max_bytes/, 'it does tell what is wrong')
  t.match(wrong, /nonsense/)
  const fine = await validated(t.testdir(), leaky(false), env)
  for (const secret of SECRETS) {
    t.notOk(wrong.includes(secret), `${secret} of a wrong file`)
    t.notOk(fine.includes(secret), `${secret} of one that can be used`)
  }
})

t.test('a server prints no secret in its log, its health, or when it cannot start', async (t) => {
  const folder = t.testdir()
  const env = { ...process.env, MY_TOKEN: 'sesame-of-the-environment', SIZE: '1000', REMEXEC_LOG_LEVEL: 'debug' }
  const text = leaky(false)
    .replace(`services: {`, `services: { health: {}, `)
    .replace(
      `cas: [{ cas_store: 'CAS' }]`,
      `cas: [{ cas_store: 'CAS' }, { instance_name: 'r', cas_store: 'REMOTE' }, { instance_name: 's', cas_store: 'REDIS' }]`,
    )
  writeFileSync(`${folder}/config.json5`, text)
  const program = start(t, [process.execPath, ...cli, `${folder}/config.json5`], { env })
  const [, address] = await program.hears(/serving grpc:\/\/(\S+)/)
  const status = await (await fetch(`http://${address}/status`)).text()
  program.child.kill('SIGTERM')
  await program.ended
  writeFileSync(
    `${folder}/config.json5`,
    text.replace(/}\s*$/, `security: { identity: { htpasswd_file: '/absent' } } }`),
  )
  const failed = start(t, [process.execPath, ...cli, `${folder}/config.json5`], { env })
  t.not((await failed.ended).code, 0)
  t.match(failed.said(), /htpasswd_file/)
  for (const secret of SECRETS) {
    t.notOk(status.includes(secret), `health, ${secret}`)
    t.notOk(program.said().includes(secret), `log, ${secret}`)
    t.notOk(failed.said().includes(secret), `start, ${secret}`)
  }
})

t.test(
  'a token that was added while the server runs is in no line of its log, wherever a client puts it',
  async (t) => {
    const folder = t.testdir({ tokens: `first ${hashOf('first')}\n` })
    const security = `identity: { tokens_file: '${folder}/tokens' }`
    writeFileSync(`${folder}/config.json5`, configOf({ security }))
    const env = { ...process.env, REMEXEC_LOG_LEVEL: 'debug' }
    const program = start(t, [process.execPath, ...cli, `${folder}/config.json5`], { env })
    const [, address = ''] = await program.hears(/serving grpc:\/\/(\S+)/)
    const token = newToken()
    appendFileSync(`${folder}/tokens`, `second ${hashOf(token)}\n`)
    await program.hears(/tokens were read again/)
    const client = new TestClient(address)
    t.teardown(() => client.close())
    const jwt = `${Buffer.from('{"alg":"none"}').toString('base64url')}.${Buffer.from('{"sub":"me"}').toString('base64url')}.x`
    const hash = hashSync('secret', 4)
    for (const secret of [token, jwt, hash]) {
      const request = { instanceName: `in ${secret} out` }
      await client
        .unary(`${CAPABILITIES}/GetCapabilities`, request, { metadata: bearer(token) })
        .response.catch(() => {})
    }
    await program.hears(/(in \S+ out.*\n[\s\S]*){3}/)
    for (const secret of [token, jwt, hash]) t.notOk(program.said().includes(secret), secret)
  },
)

t.test('files that every user can write, and passwords that every user can read, are reported at start', async (t) => {
  const folder = t.testdir()
  const [tokens, passwords] = [`${folder}/tokens`, `${folder}/htpasswd`]
  writeFileSync(tokens, `ci ${hashOf('a')}\n`)
  writeFileSync(passwords, `ann:${hashSync('p', 4)}\n`)
  const identity = { tokens_file: tokens, htpasswd_file: passwords }
  chmodSync(tokens, 0o644)
  chmodSync(passwords, 0o640)
  t.notMatch((await startGuarded(t, { identity })).said.text, /every user/)
  chmodSync(tokens, 0o646)
  chmodSync(passwords, 0o644)
  const { said } = await startGuarded(t, { identity })
  t.match(said.text, /warn.*every user of this machine can write tokens_file: chmod o-w/)
  t.match(said.text, /warn.*every user of this machine can read htpasswd_file: chmod o-r/)
})

t.test(
  'a configuration that every user can write, or read although it has secrets, is reported at start',
  async (t) => {
    const file = `${t.testdir()}/config.json5`
    const said = async (text: string, mode: number, env: NodeJS.ProcessEnv = {}): Promise<string> => {
      writeFileSync(file, text)
      chmodSync(file, mode)
      const { warnings, problems } = await checkConfig(file, { env })
      t.same(problems, [])
      const about = warnings.filter(({ message }) => /this file/.test(message))
      return about.map(({ message, expected }) => `${message}, expected ${expected}`).join('\n')
    }
    const secret = leaky(false)
    const fromOutside = configOf({
      stores: `REMOTE: { grpc: { instance_name: '', store_type: 'cas', endpoints: [{ address: 'grpc://127.0.0.1:1' }], headers: { authorization: 'Bearer \${MY_TOKEN}' } } },`,
    })
    const env = { MY_TOKEN: 'sesame-of-the-environment', SIZE: '1000' }
    t.match(
      await said(secret, 0o644, env),
      /every user of this machine can read this file, which has secrets in it, expected chmod o-r /,
    )
    t.match(
      await said(secret, 0o646, env),
      /can read and write this file, which has secrets in it, expected chmod o-rw /,
    )
    t.equal(await said(secret, 0o640, env), '')
    t.equal(await said(fromOutside, 0o644, env), '', 'what it takes from the environment is not in it')
    t.match(await said(fromOutside, 0o646, env), /can write this file, expected chmod o-w /)
    t.equal(await said(configOf({}), 0o444), '')

    writeFileSync(file, secret)
    chmodSync(file, 0o644)
    const program = start(t, [process.execPath, ...cli, file], { env: { ...process.env, ...env } })
    await program.hears(/every user of this machine can read this file/)
    await program.hears(/serving grpc/)
  },
)

/** A preload that makes a process fail like libraries do, with secrets in the message, its fields and its cause. */
const failing = `
const make = (env) => Object.assign(
  new Error('could not reach redis://me:sesame-in-a-url@127.0.0.1, ' + env.MY_TOKEN + ', Bearer sesame-in-a-header', {
    cause: Object.assign(new Error('refused ' + env.MY_TOKEN), { secretAccessKey: 'sesame-of-the-bucket' }),
  }),
  { config: { headers: { authorization: 'Bearer sesame-in-a-header' } }, token: env.MY_TOKEN },
)
process.on('SIGUSR2', () => {
  if (process.env.FAILS === 'rejection') void Promise.reject(make(process.env))
  else if (process.env.FAILS === 'object') void Promise.reject({ token: process.env.MY_TOKEN, in: 'sesame-in-a-header' })
  else throw make(process.env)
})`

t.test(
  'a server reports an unexpected error without secrets: a thrown one ends it, a rejection does not',
  async (t) => {
    const folder = t.testdir({ 'fail.mjs': failing, 'config.json5': leaky(false) })
    const env = { ...process.env, MY_TOKEN: 'sesame-of-the-environment', SIZE: '1000' }
    const check = async (FAILS: string, expected: RegExp): Promise<void> => {
      const args = ['--import', `${folder}/fail.mjs`, ...cli, `${folder}/config.json5`]
      const program = start(t, [process.execPath, ...args], { env: { ...env, FAILS } })
      await program.hears(/serving grpc:/)
      program.child.kill('SIGUSR2')
      if (FAILS === 'throw') t.equal((await program.ended).code, 1)
      await program.hears(expected)
      for (const secret of SECRETS) t.notOk(program.said().includes(secret), `${FAILS}: ${secret}`)
    }
    await Promise.all([
      check(
        'throw',
        /ended by an uncaught error: Error: could not reach redis:\/\/\*\*\*@127[\s\S]*caused by Error: refused \*\*\*/,
      ),
      check('rejection', /a task that no call waits for failed.*could not reach/),
      check('object', /a task that no call waits for failed.*a value that is not an error/),
    ])
  },
)

t.test('neither does a server that cannot start because of an unexpected error', async (t) => {
  const folder = t.testdir({
    'fail.mjs': `${failing}
const { Server } = await import('node:net')
Server.prototype.listen = () => { throw make(process.env) }`,
    'config.json5': leaky(false),
  })
  const env = { ...process.env, MY_TOKEN: 'sesame-of-the-environment', SIZE: '1000' }
  const args = ['--import', `${folder}/fail.mjs`, ...cli, `${folder}/config.json5`]
  const program = start(t, [process.execPath, ...args], { env })
  t.equal((await program.ended).code, 1)
  t.match(program.said(), /cannot serve: Error: could not reach/)
  for (const secret of SECRETS) t.notOk(program.said().includes(secret), secret)
})
