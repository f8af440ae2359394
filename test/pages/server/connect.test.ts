/** Lines for clients on the page of a server without builds. */
import { createHash } from 'node:crypto'
import { get as httpGet } from 'node:http'
import { text as textOf } from 'node:stream/consumers'
import t from 'tap'
import { startPages, textIn } from '../harness.js'

const sha256 = createHash('sha256').update('a-token').digest('hex')
const security = { identity: { tokens: [{ name: 'ann', sha256 }] }, access: [{ names: ['ann'], may: ['read_ac'] }] }

/** The texts of all snippets, by the label of their button. */
const snippetsIn = (markup: string): ReadonlyMap<string, string> =>
  new Map(
    [...markup.matchAll(/<button type="button" class="copy" aria-label="([^"]*)">.*?<pre>(.*?)<\/pre>/gs)].map(
      ([, label = '', lines = '']) => [label, textIn(lines)],
    ),
  )

t.test('each snippet has a button that copies it, with the address that the reader used', async (t) => {
  const { get, origin } = await startPages(t, {
    services: { http_cache: { '/ccache': { kind: 'ccache', instance_name: 'main' } } },
  })
  const { text, answer } = await get('/')
  const snippets = snippetsIn(text)
  t.equal(snippets.size, [...text.matchAll(/<pre>/g)].length)
  t.same(
    [...snippets.keys()].map((label) => label.replace('Copy the lines for ', '')),
    ['Bazel (.bazelrc)', 'Buck2 (.buckconfig)', 'Siso', 'ccache'],
  )
  t.match(snippets.get('Copy the lines for Bazel (.bazelrc)'), origin.replace('http:', 'grpc:'))
  t.match(snippets.get('Copy the lines for ccache'), `"${origin}/ccache"`)
  t.notMatch(textIn(text), 'TOKEN')
  t.notMatch(answer.headers.get('content-security-policy'), /unsafe/)
  t.notMatch(text, / on\w+="/, 'no script in attributes, which the policy refuses')
})

t.test('with security the page says what TOKEN is', async (t) => {
  const { get } = await startPages(t, { security })
  const { text } = await get('/')
  t.match(snippetsIn(text).get('Copy the lines for Bazel (.bazelrc)'), 'authorization="Bearer TOKEN"')
  t.match(textIn(text), /Replace TOKEN by your token\. An operator makes one with remexec token NAME ?\./)
})

t.test('behind a proxy with TLS, the lines are for the proxy', async (t) => {
  const { get, origin } = await startPages(t, { pages: { address: 'https://builds.example.com' } })
  // `fetch` takes no header of that name.
  const text = await new Promise<string>((resolve, reject) => {
    const headers = { host: 'builds.example.com' }
    httpGet(origin, { headers }, (answer) => textOf(answer).then(resolve, reject)).on('error', reject)
  })
  t.match(textIn(text), '--remote_executor=grpcs://builds.example.com ')
  t.match(textIn((await get('/')).text), origin.replace('http:', 'grpc:'), 'as the reader came')
})
