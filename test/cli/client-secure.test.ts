/** The commands that talk to a server, with the options for TLS, tokens and client certificates. All but one run in this process. */
import { execFile } from 'node:child_process'
import { createHash } from 'node:crypto'
import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { promisify } from 'node:util'
import t, { type Test } from 'tap'
import { action } from '../../src/command/action.js'
import { cas } from '../../src/command/cas.js'
import type { Command, Console } from '../../src/command/command.js'
import { doctor } from '../../src/command/doctor.js'
import { KnownSecrets } from '../../src/log/secrets.js'
import { drawnBytes } from '../drawn.js'
import { startGuarded } from '../security/server.js'
import { buildAction } from '../service/execution-harness.js'
import { blobOf } from '../service/harness.js'
import { Authority, type Issued } from '../tls/authority.js'
import { program } from './program.js'

const TOKEN = 'a-token-of-a-client'
const ALL = ['read_cas', 'write_cas', 'read_ac', 'write_ac', 'execute']

type Options = Readonly<Record<string, string | boolean>>

const run = async (command: Command, words: readonly string[], options: Options) => {
  const written: Buffer[] = []
  const secrets = new KnownSecrets()
  const console = {
    print: (text: string) => void written.push(Buffer.from(text)),
    write: async (bytes: Buffer) => void written.push(Buffer.from(bytes)),
    errors: { write: () => {}, flush: () => {}, isTTY: false },
    secrets,
  } as unknown as Console
  const status = await command.run({ words, options: { instance: 'main', ...options } }, console)
  const bytes = Buffer.concat(written)
  return { status, bytes, text: bytes.toString() }
}

const start = async (t: Test, security: object, isMutual: boolean) => {
  const folder = t.testdir()
  const authority = new Authority(join(folder, 'authority'))
  const { certFile: cert_file, keyFile: key_file } = authority.issue('server', { alternativeNames: 'IP:127.0.0.1' })
  const tls = { cert_file, key_file, ...(isMutual && { client_ca_file: authority.caFile }) }
  const { port } = await startGuarded(t, security, { tls })
  return { folder, authority, port, server: `grpcs://127.0.0.1:${port}`, ca: authority.caFile }
}

/** Every command does its work with these options. */
const works = async (t: Test, folder: string, options: Options) => {
  const put = async (bytes: Buffer): Promise<string> => {
    const path = join(folder, 'blob')
    writeFileSync(path, bytes)
    return (await run(cas, ['put', path], options)).text.split(' ')[0] ?? ''
  }
  const large = drawnBytes(5_000_000)
  const key = await put(large)
  t.equal(key, blobOf(large).digest.key)
  t.ok((await run(cas, ['get', key], options)).bytes.equals(large), 'a blob that needs ByteStream')
  const built = buildAction({ command: { arguments: ['echo', 'hello'] } })
  for (const { bytes } of [built.root, built.command, built.action]) await put(bytes)
  const { text } = await run(action, ['show', built.digest.key], options)
  t.match(text, /^command {4}echo hello$/m)
  t.match(text, 'result     none stored')
  const examined = await run(doctor, [String(options['server'])], { ...options, all: true })
  t.equal(examined.status, 0, examined.text)
  t.match(examined.text, 'a blob of 6 MB: uploaded in')
  t.notMatch(examined.text, /token goes over the network/)
  // The store has dropped what came before the blobs of the examination.
  return put(drawnBytes(100))
}

/** Every command fails with these options, and says why. */
const fails = async (t: Test, key: string, options: Options, code: number, words: RegExp) => {
  await t.rejects(run(cas, ['get', key], options), { code, message: words })
  await t.rejects(run(cas, ['put', import.meta.filename], options), { code, message: words })
  await t.rejects(run(action, ['show', key], options), { code, message: words })
  const { status, text } = await run(doctor, [String(options['server'])], options)
  t.equal(status, 1, text)
  t.match(text, words)
}

t.test('with a token over TLS', async (t) => {
  const tokens = [{ name: 'ann', sha256: createHash('sha256').update(TOKEN).digest('hex') }]
  const access = [{ names: ['ann'], may: ALL }]
  const { folder, port, server, ca } = await start(t, { identity: { tokens }, access }, false)
  const file = (name: string, text: string): string => {
    writeFileSync(join(folder, name), text)
    return join(folder, name)
  }
  const options = { server, ca, 'token-file': file('token', `${TOKEN}\n`) }
  const key = await works(t, folder, options)

  await fails(t, key, { server, ca }, 16, /anonymous callers may not do anything/)
  await fails(t, key, { ...options, 'token-file': file('wrong', 'guessed') }, 16, /token/)
  const { ca: _, ...trusting } = options
  await fails(t, key, trusting, 14, /certificate/)
  await fails(t, key, { ...options, ca: new Authority(join(folder, 'other')).caFile }, 14, /certificate/)
  await t.rejects(run(cas, ['get', key], { 'token-file': options['token-file'], server: `grpc://127.0.0.1:${port}` }), {
    code: 14,
  })

  const flags = ['--server', server, '--instance', 'main', '--ca', ca]
  const got = await promisify(execFile)(process.execPath, [program, 'cas', 'get', ...flags, key], {
    ...{ encoding: 'buffer', maxBuffer: 10_000_000 },
    env: { REMEXEC_TOKEN: TOKEN },
  })
  t.equal(blobOf(got.stdout).digest.key, key, 'the program itself, with the token in its environment')
})

t.test('with a client certificate', async (t) => {
  const access = [{ names: ['ann'], by: ['certificate'], may: ALL }]
  const identity = { client_certificates: {} }
  const { folder, authority, server, ca } = await start(t, { identity, access }, true)
  const filesOf = ({ certFile: cert, keyFile: key }: Issued) => ({ cert, key })
  const ann = filesOf(authority.issue('ann', { subject: '/CN=ann' }))
  const options = { server, ca, ...ann }
  const key = await works(t, folder, options)

  const stranger = new Authority(join(folder, 'other')).issue('ann', { subject: '/CN=ann' })
  await fails(t, key, { server, ca, ...filesOf(stranger) }, 14, /No connection established/)
  await fails(t, key, { server, ca }, 14, /No connection established/)
  const bob = filesOf(authority.issue('bob', { subject: '/CN=bob' }))
  await t.rejects(run(cas, ['get', key], { ...options, ...bob }), { message: /bob|instance/ }, 'who may do nothing')
  await t.rejects(run(cas, ['get', key], { server, ca, cert: ann.cert }), /--cert and --key belong together/)
})
