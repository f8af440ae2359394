/** What targets made, on the page of their build: from the named sets of its events, downloaded by the CAS. */
import { createHash } from 'node:crypto'
import t from 'tap'
import type { Digest } from '../../src/reapi/digest.js'
import { bazel } from '../builds/harness.js'
import { blobOf, CAS, wire } from '../service/harness.js'
import { rowsIn, startPages, textIn } from './harness.js'

const made = blobOf(Buffer.from('the library\n'))
const uriOf = ({ digest }: { digest: Digest }, instance = 'main') =>
  `bytestream://somewhere:1/${instance}/blobs/${digest.hash}/${digest.sizeBytes}`

const set = (id: string, files: readonly object[], inner: readonly string[] = []) =>
  bazel({ id: { namedSet: { id } }, namedSetOfFiles: { files, fileSets: inner.map((one) => ({ id: one })) } })
const target = (label: string, sets: readonly string[], name = 'default') =>
  bazel({
    id: { targetCompleted: { label } },
    completed: { success: true, outputGroup: [{ name, fileSets: sets.map((id) => ({ id })) }] },
  })

interface Answer {
  readonly artifactList: readonly { target: string; group?: string; name: string; sizeBytes?: number; url?: string }[]
  readonly count: number
}

t.test('files of named sets are listed with their targets, once each, and are downloaded', async (t) => {
  const events = [
    set('0', [{ name: 'a/lib.a', uri: uriOf(made) }], ['1']),
    // Sets that name each other.
    set('1', [{ name: 'a/local.o', uri: 'file:///home/ann/local.o', length: 7 }], ['0', '1', 'never-sent']),
    target('//a:lib', ['0', '1']),
    target('//a:again', ['1'], 'debug'),
    bazel({ id: { targetCompleted: { label: '//a:none' } }, completed: { success: true } }),
  ]
  const { client, get } = await startPages(t, { invocations: [{ id: 'one', events }] })
  await client.unary(`${CAS}/BatchUpdateBlobs`, {
    instanceName: 'main',
    requests: [{ digest: wire(made.digest), data: made.bytes }],
  }).response
  const { artifactList, count } = JSON.parse((await get('/invocation/one/artifacts.json')).text) as Answer
  t.equal(count, 4)
  t.same(
    artifactList.map(({ target: of, group, name, sizeBytes }) => [of, group, name, sizeBytes]),
    [
      ['//a:lib', 'default', 'a/lib.a', 12],
      ['//a:lib', 'default', 'a/local.o', 7],
      ['//a:again', 'debug', 'a/local.o', 7],
      ['//a:again', 'debug', 'a/lib.a', 12],
    ],
  )
  t.equal(artifactList[1]?.url, undefined, 'it was not uploaded')
  const { pathname } = new URL(artifactList[0]?.url ?? '')
  const { answer, text } = await get(pathname)
  t.equal(text, 'the library\n')
  t.match(answer.headers.get('content-disposition'), /^attachment; .*lib\.a/)
  const page = await get('/invocation/one/artifacts?label=again')
  t.same(
    rowsIn(page.text)
      .slice(1)
      .map(([name]) => name),
    ['a/local.o it was not uploaded', 'a/lib.a'],
  )
  t.match(page.text, `href="${pathname}"`)
  const overview = JSON.parse((await get('/invocation/one.json')).text) as { artifacts: object[] }
  t.same(overview.artifacts, artifactList, 'the first ones are in the JSON of the build')
})

t.test('a build without artifacts has no part for them', async (t) => {
  const { get } = await startPages(t, { invocations: [{ id: 'one', events: [bazel({ started: {} })] }] })
  t.notMatch((await get('/invocation/one')).text, /\/artifacts["?]/)
})

t.test('names that deceive are text, lead nowhere else, and their secrets are hidden', async (t) => {
  const names = [
    '../../etc/passwd',
    'a/..',
    '</a><script>alert(1)</script>',
    'x\u202Egpj.exe\r\nset-cookie: a=b',
    'super-secret',
  ]
  const events = [
    bazel({
      structuredCommandLine: {
        commandLineLabel: 'original',
        sections: [{ optionList: { option: [{ combinedForm: '--action_env=TOKEN=super-secret' }] } }],
      },
    }),
    set('0', [
      ...names.map((name) => ({ name, uri: uriOf(made) })),
      { name: 'odd', uri: 'javascript:alert(1)' },
      { name: 'long', uri: `bytestream://x/${'y'.repeat(5000)}` },
    ]),
    target('//a:lib', ['0']),
  ]
  const { client, get } = await startPages(t, { invocations: [{ id: 'one', events }] })
  await client.unary(`${CAS}/BatchUpdateBlobs`, {
    instanceName: 'main',
    requests: [{ digest: wire(made.digest), data: made.bytes }],
  }).response
  const { text } = await get('/invocation/one/artifacts')
  t.notMatch(text.replace(/<style>.*?<\/style>/s, ''), /<script>alert|javascript:|super-secret|\u202e/i)
  const json = await get('/invocation/one/artifacts.json')
  t.notMatch(json.text, /super-secret|\u202e|javascript/)
  const { artifactList } = JSON.parse(json.text) as Answer
  t.equal(artifactList.length, 7)
  for (const { url } of artifactList.slice(0, 5)) {
    const { answer } = await get(new URL(url ?? '').pathname)
    t.equal(answer.status, 200, url ?? '')
    t.match(answer.headers.get('content-disposition'), /^attachment; filename\*=UTF-8''[\w%.-]+$/)
    t.equal(answer.headers.get('set-cookie'), null)
  }
})

t.test('a file of another tenant has no link, and its address is refused', async (t) => {
  const token = createHash('sha256').update('token-of-bob').digest('hex')
  const security = {
    identity: { tokens: [{ name: 'bob', sha256: token }] },
    access: [{ names: ['bob'], may: ['read_ac', 'read_cas'], instances: ['other'] }],
  }
  const events = [set('0', [{ name: 'stolen', uri: uriOf(made) }]), target('//a:lib', ['0'])]
  const { get } = await startPages(t, { security, invocations: [{ id: 'one', instance: 'other', events }] })
  const bob = { authorization: 'Bearer token-of-bob' }
  const { artifactList } = JSON.parse((await get('/invocation/one/artifacts.json', bob)).text) as Answer
  t.same(
    artifactList.map(({ name, url }) => [name, url]),
    [['stolen', undefined]],
  )
  const { hash, sizeBytes } = made.digest.toMessage()
  const { answer } = await get(`/main/blobs/sha256/file/${hash}-${sizeBytes}/stolen`, bob)
  t.equal(answer.status, 404)
})

t.test('sets without end are bounded, and the page says what is left out', async (t) => {
  const files = (count: number) => Array.from({ length: count }, (_, at) => ({ name: `f${at}`, uri: uriOf(made) }))
  const sets = Array.from({ length: 7 }, (_, at) => set(`${at}`, files(10_000)))
  const targets = Array.from({ length: 300 }, (_, at) => target(`//a:${at}`, ['0', '1', '2', '3', '4', '5', '6']))
  const { get } = await startPages(t, { invocations: [{ id: 'one', events: [...sets, ...targets] }] })
  const { text } = await get('/invocation/one/artifacts?page=3')
  t.match(textIn(text), '20,000 more files or sets of files are not listed')
  t.match(textIn(text), 'more than a page looks through')
  t.match(textIn(text), 'Page 3 of 200, 20,000 in all')
})
