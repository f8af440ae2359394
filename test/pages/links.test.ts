/** Links from what clients are told to the pages: they lead to a page that is there. */
import { Metadata } from '@grpc/grpc-js'
import t from 'tap'
import { codec } from '../../src/proto/codec.js'
import { REQUEST_METADATA } from '../../src/proto/request-metadata.js'
import { buildAction, EXECUTION, FakeWorker, Reader, responseOf } from '../service/execution-harness.js'
import { AC, blobOf, CAS, wire } from '../service/harness.js'
import { rowsIn, startPages, textIn } from './harness.js'

const metadataOf = (invocation: string, target: string): Metadata => {
  const metadata = new Metadata()
  const bytes = codec('build.bazel.remote.execution.v2.RequestMetadata').encode({
    ...{ toolInvocationId: invocation, targetId: target, actionMnemonic: 'Genrule' },
  })
  metadata.set(REQUEST_METADATA, bytes)
  return metadata
}

t.test('the message of a failed action ends with a link to its page, that of another one has none', async (t) => {
  const { client, clock, get } = await startPages(t, { pages: { address: 'https://builds.example', path: '/see' } })
  const worker = await new FakeWorker(client, clock).hello()
  for (const [exitCode, code] of [
    [3, 0],
    [0, 0],
    [0, 4],
  ] as const) {
    const { action, command, root, digest } = buildAction({ command: { arguments: ['run', `${exitCode} ${code}`] } })
    await client.unary(`${CAS}/BatchUpdateBlobs`, {
      instanceName: 'main',
      requests: [action, command, root].map((blob) => ({ digest: wire(blob.digest), data: blob.bytes })),
    }).response
    const stream = new Reader(
      client.serverStream(`${EXECUTION}/Execute`, { instanceName: 'main', actionDigest: wire(digest) }),
    )
    worker.report(await worker.start(), {
      executeResponse: { result: { exitCode, stderrRaw: Buffer.from('its words') }, status: { code }, message: 'said' },
    })
    const { message } = responseOf((await stream.rest()).at(-1))
    if (exitCode === 0 && code === 0) {
      t.equal(message, 'said')
      continue
    }
    const [, link = ''] = /^said\nremexec: see https:\/\/builds\.example(\/see\/.*)$/.exec(message) ?? []
    t.match(link, /^\/see\/main\/blobs\/sha256\/historical_execute_response\/[0-9a-f]{64}-\d+\/$/)
    const { answer, text } = await get(link)
    t.equal(answer.status, 200)
    t.match(textIn(text), `${exitCode} ${code}`, 'its command')
    t.match(textIn(text), code === 0 ? 'exit code 3, said' : 'DEADLINE_EXCEEDED: , exit code 0, said')
    t.match(textIn(text), /Standard error its words/)
    t.match(text, `href="/see/main/blobs/sha256/action/${digest.hash}-${digest.sizeBytes}/"`)
    const queue = await get('/see/queue?show=failed')
    t.match(queue.text, link, 'the queue leads there too')
  }
})

t.test('links lead both ways between a build, its actions and their operations', async (t) => {
  const { client, clock, get } = await startPages(t)
  const worker = await new FakeWorker(client, clock).hello({ maxInflightAttempts: 1 })
  const execute = async (name: string) => {
    const { action, command, root, digest } = buildAction({ command: { arguments: [name] } })
    await client.unary(`${CAS}/BatchUpdateBlobs`, {
      instanceName: 'main',
      requests: [action, command, root].map((blob) => ({ digest: wire(blob.digest), data: blob.bytes })),
    }).response
    const request = { instanceName: 'main', actionDigest: wire(digest) }
    const metadata = metadataOf('a-build', `//:${name}`)
    const stream = new Reader(client.serverStream(`${EXECUTION}/Execute`, request, { metadata }))
    await stream.next()
    const { hash, sizeBytes } = digest
    return { key: `${hash}-${sizeBytes}`, address: `/main/blobs/sha256/action/${hash}-${sizeBytes}/`, stream }
  }
  const failed = await execute('failed')
  worker.report(await worker.start(), { executeResponse: { result: { exitCode: 3 } } })
  await failed.stream.rest()
  const running = await execute('running')
  await worker.start()
  const waiting = await execute('waiting')
  for (const [{ key, address }, words, show] of [
    [failed, '1 failed lately', '&amp;show=failed'],
    [running, '1 running', ''],
    [waiting, '1 waiting', '&amp;show=waiting'],
  ] as const) {
    const link = `/queue?action=${key}${show}`
    const action = await get(address)
    t.match(textIn(action.text), `In the queue: ${words}`)
    t.ok(action.text.includes(`href="${link}"`), `the action leads to its operation: ${link}`)
    const queue = await get(link.replace('&amp;', '&'))
    t.match(textIn(queue.text), `Only of action ${key}`)
    t.equal(rowsIn(queue.text).length, 2, 'the head, and this one alone')
    t.ok(queue.text.includes(`href="${address}"`), 'and back')
    t.ok(queue.text.includes('href="/invocation/a-build?instance=main"'), 'and to the build')
  }
  t.match(textIn((await get('/queue?action=another')).text), 'Nothing runs.')
  const build = await get('/invocation/a-build')
  t.match(textIn(build.text), 'In the queue: 1 running , 1 waiting , 1 failed lately')
  for (const show of ['', '&amp;show=waiting', '&amp;show=failed'])
    t.ok(build.text.includes(`href="/queue?invocation=a-build${show}"`), show)
  const cache = await get('/invocation/a-build/cache')
  t.ok(cache.text.includes(`href="${failed.address}"`), 'the build leads to its actions')
  t.match((await get(failed.address)).text, 'href="/invocation/a-build?instance=main"', 'and back')
})

t.test('a client without build events is in the list by its requests, and leads to its actions', async (t) => {
  const { client, get } = await startPages(t)
  const { digest } = buildAction()
  const asked = { instanceName: 'main', actionDigest: wire(digest) }
  const metadata = metadataOf('cache-only-build', '//a:b')
  await t.rejects(client.unary(`${AC}/GetActionResult`, asked, { metadata }).response)
  await client.unary(`${AC}/UpdateActionResult`, { ...asked, actionResult: { exitCode: 0 } }, { metadata }).response
  await client.unary(`${AC}/GetActionResult`, asked, { metadata }).response
  t.match(rowsIn((await get('/')).text)[1], ['○ cache only', '//a:b', /ago/, /.*/, '', '', '–', '–', '50.0 %'])
  const page = await get('/invocation/cache-only-build')
  t.match(textIn(page.text), 'Invocation cache-only-build in instance main')
  t.notMatch(page.text, '/targets')
  const cache = await get('/invocation/cache-only-build/cache')
  const rows = rowsIn(cache.text).filter(([, target]) => target?.startsWith('//a:b'))
  t.same(
    rows.map(([outcome, , mnemonic, action]) => [outcome, mnemonic, action]),
    [['miss , written , hit', 'Genrule', digest.hash.slice(0, 12)]],
    'one row for an action, without the reason that every first miss has',
  )
  t.match(textIn(cache.text), '1 action in 3 requests')
  t.match(cache.text, `href="/main/blobs/sha256/action/${digest.hash}-${digest.sizeBytes}/"`)
  t.equal((await get('/invocation/another')).answer.status, 404)
})

t.test('what hits saved is the size of their outputs, those inside of directories too, each action once', async (t) => {
  const { client, get } = await startPages(t)
  const { digest } = buildAction()
  const [file, inside] = [blobOf(Buffer.alloc(1000, 1)), blobOf(Buffer.alloc(500, 2))]
  const tree = blobOf(
    codec('build.bazel.remote.execution.v2.Tree').encode({
      root: { files: [{ name: 'one', digest: wire(inside.digest) }] },
      children: [{ files: [{ name: 'two', digest: wire(inside.digest) }] }],
    }),
  )
  await client.unary(`${CAS}/BatchUpdateBlobs`, {
    instanceName: 'main',
    requests: [file, inside, tree].map((blob) => ({ digest: wire(blob.digest), data: blob.bytes })),
  }).response
  const asked = { instanceName: 'main', actionDigest: wire(digest) }
  const actionResult = {
    outputFiles: [{ path: 'a', digest: wire(file.digest) }],
    outputDirectories: [{ path: 'd', treeDigest: wire(tree.digest) }],
  }
  await client.unary(`${AC}/UpdateActionResult`, { ...asked, actionResult }).response
  const metadata = metadataOf('saving-build', '//a:b')
  for (const _ of [1, 2]) await client.unary(`${AC}/GetActionResult`, asked, { metadata }).response
  for (const tab of ['', '/cache'])
    t.match(textIn((await get(`/invocation/saving-build${tab}`)).text), /2 kB saved by hits/, tab)
})
