/** The commands that talk to a server, against a server of the default recipe. They run in this process. */
import { readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import t, { type Test } from 'tap'
import { action } from '../../src/command/action.js'
import { cas } from '../../src/command/cas.js'
import type { Command, Console } from '../../src/command/command.js'
import { doctor } from '../../src/command/doctor.js'
import { KnownSecrets } from '../../src/log/secrets.js'
import { codec } from '../../src/proto/codec.js'
import { drawnBytes } from '../drawn.js'
import { buildAction } from '../service/execution-harness.js'
import { blobOf, wire } from '../service/harness.js'
import { DEFAULT, serve } from './program.js'

const directoryCodec = codec('build.bazel.remote.execution.v2.Directory')

const runIn =
  (server: string) =>
  async (command: Command, words: readonly string[], options: object = {}) => {
    const written: Buffer[] = []
    const said: string[] = []
    const console = {
      print: (text: string) => void written.push(Buffer.from(text)),
      write: async (bytes: Buffer) => void written.push(Buffer.from(bytes)),
      errors: { write: (text: string) => void said.push(text), flush: () => {}, isTTY: false },
      secrets: new KnownSecrets(),
    } as unknown as Console
    const status = await command.run({ words, options: { server, ...options } }, console)
    const bytes = Buffer.concat(written)
    return { status, bytes, text: bytes.toString(), said: said.join('') }
  }

const start = async (t: Test) => {
  const data = t.testdir()
  const server = serve(t, DEFAULT, data)
  const [, address = ''] = await server.hears(/serving (grpc:\/\/\S+) server=public/)
  await server.hears(/a worker connected|connected to the scheduler/)
  const run = runIn(address)
  const put = async (bytes: Buffer): Promise<string> => {
    const path = join(data, 'blob')
    writeFileSync(path, bytes)
    const { text } = await run(cas, ['put', path])
    return text.split(' ')[0] ?? ''
  }
  return { data, address, run, put }
}

t.test('blobs, trees and actions of a server', async (t) => {
  const { data, address, run, put } = await start(t)
  const large = drawnBytes(5_000_000)
  const { hash, sizeBytes } = blobOf(large).digest
  t.equal(await put(large), `${hash}-${sizeBytes}`)
  t.ok((await run(cas, ['get', `${hash}/${sizeBytes}`])).bytes.equals(large), 'as Bazel writes a digest')
  const path = join(data, 'copy')
  await run(cas, ['get', `${hash}-${sizeBytes}`], { output: path })
  t.ok(readFileSync(path).equals(large))
  await t.rejects(run(cas, ['get', `${hash}-${sizeBytes}`], { output: path }), /copy: a file is in its place/)
  const absent = `${'0'.repeat(64)}-7`
  await t.rejects(run(cas, ['get', absent]), { code: 5 })
  await t.rejects(run(cas, ['get', 'abc']), /expected HASH-SIZE or HASH\/SIZE of SHA256/)
  await t.rejects(run(cas, ['put', data]), /expected a file/)

  const digest = wire(blobOf(large).digest)
  const inner = blobOf(Buffer.from(directoryCodec.encode({ files: [{ name: 'run', digest, isExecutable: true }] })))
  const links = [{ name: 'link', target: 'sub/run' }]
  const sub = (name: string) => ({ name, digest: wire(inner.digest) })
  const root = blobOf(Buffer.from(directoryCodec.encode({ directories: [sub('a'), sub('b')], symlinks: links })))
  for (const { bytes } of [inner, root]) await put(bytes)
  const tree = await run(cas, ['tree', root.digest.key])
  t.same(
    tree.text.split('\n').map((line) => line.replace(/[0-9a-f]{64}-\d+/, 'DIGEST')),
    ['l - link -> sub/run', 'd DIGEST a/', 'x DIGEST a/run', 'd DIGEST b/', 'x DIGEST b/run', ''],
  )

  const script = 'echo "it said $WORD"; echo trouble >&2; exit 3'
  const built = buildAction({
    command: { arguments: ['/bin/sh', '-c', script], environmentVariables: [{ name: 'WORD', value: 'two words' }] },
  })
  for (const { bytes } of [built.root, built.command, built.action]) await put(bytes)
  const shown = await run(action, ['show', built.digest.key])
  t.match(shown.text, `command    /bin/sh -c 'echo "it said $WORD"; echo trouble >&2; exit 3'`)
  t.match(shown.text, `env        WORD='two words'`)
  t.match(shown.text, 'result     none stored')
  const ran = await run(action, ['run', built.digest.key])
  t.equal(ran.status, 1, 'the action failed')
  t.equal(ran.text, 'it said two words\n')
  t.match(ran.said, /executing\n.*trouble\n.*exit code 3\n/s)

  const good = buildAction({ command: { arguments: ['/bin/sh', '-c', 'echo good'] } })
  for (const { bytes } of [good.root, good.command, good.action]) await put(bytes)
  t.equal((await run(action, ['run', good.digest.key])).status, 0)
  t.match((await run(action, ['run', good.digest.key])).said, 'exit code 0, from the action cache')
  t.notMatch((await run(action, ['run', good.digest.key], { 'skip-cache': true })).said, 'from the action cache')
  t.match((await run(action, ['show', good.digest.key])).text, /^result {5}exit code 0, by worker /m)
  await t.rejects(run(action, ['show', absent]), { code: 5 })

  const examined = await run(doctor, [address], { all: true })
  t.equal(examined.status, 0, examined.text)
  for (const part of [
    'digest functions: SHA256',
    'executes actions',
    'a blob of 6 MB: uploaded in',
    'may write results',
  ])
    t.match(examined.text, part)
  t.match(
    (await run(doctor, [address], { header: ['authorization=Bearer of-no-use'] })).text,
    /token goes over the network/,
  )
})

t.test('a server that is not there, and wrong options', async (t) => {
  const run = runIn('grpc://127.0.0.1:1')
  const { status, text } = await run(doctor, ['grpc://127.0.0.1:1'])
  t.equal(status, 1)
  t.match(text, /no answer to GetCapabilities: .*ECONNREFUSED.*\n +-> check address and port/)
  const digest = `${'0'.repeat(64)}-7`
  const message = /^grpc:\/\/127\.0\.0\.1:1: .*ECONNREFUSED.*; check address and port/
  await t.rejects(run(cas, ['get', digest]), { code: 14, message })
  await t.rejects(run(cas, ['got', digest]), /expected get, put or tree/)
  await t.rejects(run(cas, ['get', digest], { server: 'no address' }), /this is no grpc:\/\/host:port/)
  await t.rejects(run(cas, ['get', digest], { ca: 'x' }), /need an address with grpcs/)
  await t.rejects(run(cas, ['get', digest], { header: ['x'] }), /--header x: expected NAME=VALUE/)
  await t.rejects(run(cas, ['get', digest], { 'digest-function': 'SHA0' }), /expected one of SHA256/)
  await t.rejects(
    run(cas, ['get', digest], { 'token-file': '/nowhere' }),
    /--token-file \/nowhere: there is no such file/,
  )
  await t.rejects(run(action, ['show']), /expected show or run/)
})
