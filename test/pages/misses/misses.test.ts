import { createHash } from 'node:crypto'
import t from 'tap'
import { codec } from '../../../src/proto/codec.js'
import { Digest } from '../../../src/reapi/digest.js'
import { digestFunctions } from '../../../src/reapi/digest-function.js'
import { bazel } from '../../builds/harness.js'
import { logOf } from '../../misses/execution-logs.js'
import { digestOf } from '../../misses/trees.js'
import { found, until } from '../../until.js'
import { Uploader } from '../actions/fixture.js'
import { rowsIn, startPages, textIn } from '../harness.js'

const actionCodec = codec('build.bazel.remote.execution.v2.Action')
const commandCodec = codec('build.bazel.remote.execution.v2.Command')

/** Three builds: the second with another PATH, the third with another header. */
const build = async (main: Uploader, id: string, path: string, header: string): Promise<void> => {
  for (const name of ['a', 'b', 'c']) {
    const command = {
      ...{ arguments: ['cc', '-c', `${name}.c`], outputPaths: [`${name}.o`] },
      environmentVariables: [{ name: 'PATH', value: path }],
    }
    const asked = { toolInvocationId: id, targetId: `//:${name}`, actionMnemonic: 'CppCompile' }
    const action = await main.action(command, { src: { [`${name}.c`]: name, 'x.h': header } })
    if (!(await main.ask(action, asked))) await main.write(action, {}, asked)
  }
}

t.test('misses of several causes stand below their causes, until the reader sorts them', async (t) => {
  const { client, get } = await startPages(t)
  const main = new Uploader(client, 'main')
  await build(main, 'one', '/bin', '1')
  for (const [name, header] of [
    ['a', '2'],
    ['b', '2'],
    ['new', '1'],
  ] as const) {
    const command = { arguments: ['cc', '-c', `${name}.c`], outputPaths: [`${name}.o`] }
    const environmentVariables = [{ name: 'PATH', value: '/bin' }]
    const action = await main.action(
      { ...command, environmentVariables },
      { src: { [`${name}.c`]: name, 'x.h': header } },
    )
    await main.ask(action, { toolInvocationId: 'two', targetId: `//:${name}`, actionMnemonic: 'CppCompile' })
  }
  const titlesIn = (text: string) =>
    [...text.matchAll(/<tr class="group">(.*?)<\/tr>/gs)].map(([, row = '']) => textIn(row))
  const { text } = await get('/invocation/two/misses?instance=main')
  t.strictSame(titlesIn(text), ['input src/x.h changed: 2 misses', 'never built here: 1 miss'])
  t.strictSame(titlesIn((await get('/invocation/two/misses?instance=main&sort=target')).text), [])
})

t.test('the misses of a build by cause, one miss, and two builds side by side', async (t) => {
  const { client, get } = await startPages(t)
  const main = new Uploader(client, 'main')
  await build(main, 'one', '/bin', '1')
  await build(main, 'two', '/secret/bin', '1')
  await build(main, 'three', '/secret/bin', '2')

  const { text } = await get('/invocation/two/misses?instance=main')
  t.match(textIn(text), '3 actions asked for 3 misses 0.0 % hits')
  t.strictSame(rowsIn(text)[1], ['3 of 3', 'environment: PATH differs', 'one , side by side'])
  t.notMatch(text, /secret/)
  t.strictSame(rowsIn((await get('/invocation/one/misses?instance=main')).text)[1], ['3 of 3', 'never built here', '–'])
  const third = await get('/invocation/three/misses?instance=main')
  t.strictSame(rowsIn(third.text)[1], ['3 of 3', 'input src/x.h changed', 'two , side by side'])

  const groups = (await get('/invocation/two/misses?instance=main')).text
  t.strictSame(rowsIn(groups)[2], ['Target', 'Mnemonic', 'First output', 'Asked'], 'no column that says one thing')

  // From the list to one miss, and from there to values only if the reader wants them.
  const [, link = ''] = /href="(\/miss\?[^"]+)"/.exec(text) ?? []
  const miss = await get(link.replaceAll('&amp;', '&'))
  t.match(
    textIn(miss.text),
    /Why was this a miss\? environment: PATH differs Compared with the last action like it of one/,
  )
  t.notMatch(miss.text, /secret/)
  const [, values = ''] = /href="([^"]+)">Show values/.exec(miss.text) ?? []
  t.match(textIn((await get(values.replaceAll('&amp;', '&'))).text), 'PATH /bin /secret/bin')
  const [, action = ''] = /href="(\/main\/blobs\/sha256\/action\/[^"]+)"/.exec(miss.text) ?? []
  t.match(textIn((await get(action)).text), '//:a CppCompile')

  const both = await get('/compare/two..three?instance=main')
  t.match(textIn(both.text), '0 the same 3 different 0 only now')
  t.strictSame(rowsIn(both.text)[1], ['3', 'input src/x.h changed'])
  const [, pair = ''] = /href="(\/compare\/[^"]+)"/.exec(both.text) ?? []
  const two = await get(pair.replaceAll('&amp;', '&'))
  t.match(textIn(two.text), /Two actions .* First difference: inputs input src\/x.h changed/)
  const [, directories = ''] = /Before <a[^>]* title="([^"]+)"/.exec(two.text) ?? []
  const [, now = ''] = /now <a[^>]* title="([^"]+)"/.exec(two.text) ?? []
  const trees = await get(`/compare/${directories}..${now}?instance=main&kind=directory`)
  t.match(rowsIn(trees.text)[1], ['src/x.h'])
  const same = await get(`/compare/${now}..${now}?instance=main&kind=directory`)
  t.match(textIn(same.text), 'No path that could be compared differs.')

  t.equal((await get('/invocation/never/misses?instance=main')).answer.status, 404)
  t.equal((await get('/miss?instance=main&action=nothing')).answer.status, 404)
  t.equal((await get('/compare/one..never?instance=main')).answer.status, 404)
  t.equal((await get(`/compare/one..two?instance=main&kind=action`)).answer.status, 400)
})

t.test('why a miss needs the right to read results and content of the instance', async (t) => {
  const token = (name: string) => ({ name, sha256: createHash('sha256').update(`${name}-secret-token`).digest('hex') })
  const { client, get } = await startPages(t, {
    security: {
      identity: { tokens: [token('main'), token('other'), token('ac')] },
      access: [
        { names: ['main'], instances: ['main'], may: ['read_cas', 'write_cas', 'read_ac', 'write_ac'] },
        { names: ['other'], instances: ['other'], may: ['read_cas', 'read_ac'] },
        { names: ['ac'], instances: ['main'], may: ['read_ac'] },
      ],
    },
  })
  const as = (name: string) => ({ authorization: `Bearer ${name}-secret-token` })
  await build(new Uploader(client, 'main', as('main')), 'one', '/bin', '1')
  const page = '/invocation/one/misses?instance=main'
  const allowed = await get(page, as('main'))
  t.equal(allowed.answer.status, 200)
  const [, link = ''] = /href="(\/miss\?[^"]+)"/.exec(allowed.text) ?? []
  for (const one of [page, link.replaceAll('&amp;', '&'), '/compare/one..one?instance=main']) {
    t.equal((await get(one, as('main'))).answer.status, 200)
    for (const name of ['other', 'ac']) t.equal((await get(one, as(name))).answer.status, 404, `${name}: ${one}`)
    t.equal((await get(one)).answer.status, 401)
  }
  // The instance of the address decides, not that of the build.
  const elsewhere = await get('/invocation/one/misses?instance=other', as('other'))
  t.equal(elsewhere.answer.status, 404)
})

t.test('a build whose events name no instance has the misses of the instance that it used', async (t) => {
  const events = [bazel({ started: { command: 'build' } })]
  const { client, get } = await startPages(t, { invocations: [{ id: 'one', instance: '', events }] })
  await build(new Uploader(client, 'main'), 'one', '/bin', '1')
  t.strictSame(rowsIn((await get('/invocation/one/misses')).text)[1], ['3 of 3', 'never built here', '–'])
})

t.test('of cache-only builds, the inputs are in the execution logs that their events link', async (t) => {
  const actionOf = (text: string) => ({ inputRootDigest: digestOf(`root of ${text}`).toMessage() })
  const logs = ['1', '2'].map((text) => {
    const digest = actionDigestOf(actionOf(text))
    return logOf([
      { id: 1, file: { path: 'src/a.c', digest: digestOf(text).toMessage() } },
      { id: 2, inputSet: { fileIds: [1] } },
      { spawn: { inputSetId: 2, digest: digest.toMessage() } },
    ])
  })
  // The second one sends its events without the name of the instance.
  const invocations = logs.map((log, at) => {
    const { hash, sizeBytes } = Digest.of(log, digestFunctions.SHA256)
    const uri = `bytestream://cache.example/main/blobs/${hash}/${sizeBytes}`
    return {
      id: `build-${at + 1}`,
      instance: at === 0 ? 'main' : '',
      events: [bazel({ buildToolLogs: { log: [{ name: 'execution_log.binpb.zst', uri }] } })],
    }
  })
  const { client, get, clock } = await startPages(t, { invocations })
  const main = new Uploader(client, 'main')
  for (const [at, text] of ['1', '2'].entries()) {
    const asked = { toolInvocationId: `build-${at + 1}`, targetId: '//:a', actionMnemonic: 'CppCompile' }
    const action = await main.action(COMMAND, {}, actionOf(text))
    t.equal(await main.ask(action, asked), false)
    await main.write(action, {}, asked)
  }
  // A page gives up an explanation that takes too long, and has it later.
  const row = () =>
    found(async () => rowsIn((await get('/invocation/build-2/misses')).text)[1]?.slice(0, 2), 'an explained miss')
  t.strictSame(await row(), ['1 of 1', 'inputs differ; the server does not have the list of inputs'])
  for (const log of logs) await main.blob(log)
  // Explanations are shared by readers for a while.
  clock.advance(16_000)
  t.strictSame(await row(), ['1 of 1', 'input src/a.c changed'])
})

t.test('all misses of a build are explained, also thousands', async (t) => {
  const { client, get } = await startPages(t)
  const main = new Uploader(client, 'main')
  const asked = { toolInvocationId: 'large', targetId: '//:a', actionMnemonic: 'CppCompile' }
  const action = await main.action(COMMAND, {}, {})
  await main.ask(action, { ...asked, toolInvocationId: 'before' })
  await main.write(action, {}, { ...asked, toolInvocationId: 'before' })
  const changed = { ...COMMAND, arguments: ['cc', '-O2'] }
  // Without Action in the CAS, and one with another argument.
  const absent = Array.from({ length: 2500 }, (_, at) => Digest.of(Buffer.from(`${at}`), digestFunctions.SHA256))
  await Promise.all(absent.map((digest) => main.ask(digest, { ...asked, targetId: `//:${digest.hash}` })))
  await main.ask(await main.action(changed, {}, {}), asked)
  const page = '/invocation/large/misses?instance=main'
  let text = ''
  await until(async () => {
    text = (await get(page)).text
    return text.includes('2,500 of 2,501') || !text.includes('are explained by now')
  })
  t.match(rowsIn(text).slice(1, 3), [
    ['2,500 of 2,501', 'never built here'],
    ['1 of 2,501', 'argument -O2 is new'],
  ])
  t.notMatch(text, 'data-live', 'it has ended')
})

const COMMAND = { arguments: ['cc'], outputPaths: ['a.o'] }

const actionDigestOf = (action: object): Digest => {
  const command = Digest.of(commandCodec.encode(COMMAND), digestFunctions.SHA256)
  return Digest.of(actionCodec.encode({ ...action, commandDigest: command.toMessage() }), digestFunctions.SHA256)
}
