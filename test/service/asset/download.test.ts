import type { IncomingMessage, ServerResponse } from 'node:http'
import { Metadata } from '@grpc/grpc-js'
import t, { type Test } from 'tap'
import { durationOf, timestampOf } from '../../../src/proto/time.js'
import { until } from '../../until.js'
import { assetServer, checksum, digestOf, FETCH, from, origin, random, sha, sri } from './server.js'

const [DEADLINE_EXCEEDED, NOT_FOUND, PERMISSION_DENIED, RESOURCE_EXHAUSTED, ABORTED] = [4, 5, 7, 8, 10]

const sends =
  (content: Buffer, headers: Record<string, string> = {}) =>
  (_: IncomingMessage, response: ServerResponse) =>
    void response.writeHead(200, headers).end(content)

for (const [kind, store] of [
  ['memory', () => ({ memory: {} })],
  [
    'files',
    (t: Test) => {
      const folder = t.testdir({ cas: {} })
      return {
        filesystem: { content_path: `${folder}/cas/content`, temp_path: `${folder}/cas/temp`, eviction_policy: {} },
      }
    },
  ],
] as const) {
  t.test(`content of any length is downloaded once and is then in the CAS (${kind})`, async (t) => {
    for (const sizeBytes of [0, 1, 64 * 1024, 64 * 1024 + 1, 3_000_000]) {
      const content = random(sizeBytes)
      const { url, port, requests } = await origin(t, sends(content))
      const server = await assetServer(t, { download: from(port), store: store(t) })
      const request = { uris: [`${url}/archive.tar.gz`], qualifiers: [checksum(sri(content, 'sha512'))] }
      for (const _ of [1, 2]) {
        const found = await server.fetchBlob(request)
        t.match(
          found,
          { status: { code: 0 }, uri: request.uris[0], blobDigest: digestOf(content) },
          `${sizeBytes} bytes`,
        )
      }
      t.equal(requests.length, 1, 'content with a checksum is never asked for again')
      t.ok((await server.read(digestOf(content))).equals(content))
      const mirror = { ...request, uris: ['https://mirror.invalid/other'] }
      t.match(await server.fetchBlob(mirror), { status: { code: 0 } }, 'it has that content wherever it lies')
    }
  })
}

t.test('content with another checksum is ABORTED, stored nowhere, and the next URI is tried', async (t) => {
  const [wrong, right] = [random(100_000), random(100_000)]
  const { url, port } = await origin(t, (request, response) =>
    sends(request.url === '/right' ? right : wrong)(request, response),
  )
  const server = await assetServer(t, { download: from(port) })
  const qualifiers = [checksum(sri(right))]
  const failed = await server.fetchBlob({ uris: [`${url}/wrong`], qualifiers })
  t.match(failed, { status: { code: ABORTED, message: /has the sha256 .*, expected / } })
  t.equal(await server.missing(wrong), 1)
  const found = await server.fetchBlob({ uris: [`${url}/wrong`, `${url}/right`], qualifiers })
  t.match(found, { status: { code: 0 }, uri: `${url}/right` })
})

t.test('a blob that is in the CAS already is not transferred again', async (t) => {
  const content = random(1000)
  let sent = 0
  const { url, port } = await origin(t, (_, response) => {
    response.writeHead(200, { 'content-length': content.length })
    response.flushHeaders()
    response.on('close', () => {
      sent += response.writableFinished ? 1 : 0
    })
  })
  const server = await assetServer(t, { download: from(port) })
  await server.upload(content)
  t.match(await server.fetchBlob({ uris: [url], qualifiers: [checksum(sri(content))] }), { status: { code: 0 } })
  t.equal(sent, 0, 'the origin has sent no content')
})

t.test(
  'without a checksum the origin is asked each time, and content that is unchanged is not sent again',
  async (t) => {
    let content = random(50)
    const { url, port, requests } = await origin(t, (request, response) => {
      const etag = `"${digestOf(content).hash}"`
      if (request.headers['if-none-match'] === etag) response.writeHead(304).end()
      else sends(content, { etag })(request, response)
    })
    const server = await assetServer(t, { download: from(port) })
    const oldestContentAccepted = timestampOf(Date.now() + 3_600_000)
    const request = { uris: [url], oldestContentAccepted }
    t.match(await server.fetchBlob(request), { status: { code: 0 }, blobDigest: digestOf(content) })
    t.match(await server.fetchBlob(request), { status: { code: 0 }, blobDigest: digestOf(content) })
    content = random(60)
    t.match(await server.fetchBlob(request), { status: { code: 0 }, blobDigest: digestOf(content) })
    t.strictSame(
      requests.map(({ headers }) => headers['if-none-match'] !== undefined),
      [false, true, true],
    )
  },
)

t.test('reuse answers from before while the client accepts the age; refuse downloads nothing', async (t) => {
  const content = random(50)
  const { url, port, requests } = await origin(t, sends(content))
  const reusing = await assetServer(t, { download: { ...from(port), without_checksum: 'reuse' } })
  for (const _ of [1, 2]) t.match(await reusing.fetchBlob({ uris: [url] }), { status: { code: 0 } })
  t.equal(requests.length, 1)
  await reusing.fetchBlob({ uris: [url], oldestContentAccepted: timestampOf(Date.now() + 3_600_000) })
  t.equal(requests.length, 2)
  const refusing = await assetServer(t, { download: { ...from(port), without_checksum: 'refuse' } })
  t.match(await refusing.fetchBlob({ uris: [url] }), { status: { code: PERMISSION_DENIED, message: /checksum\.sri/ } })
  t.equal(requests.length, 2)
})

t.test('headers go to the URI that they name, and not to another origin of a redirect', async (t) => {
  const content = random(50)
  const other = await origin(t, sends(content))
  const first = await origin(t, (request, response) => {
    if (request.url === '/away') response.writeHead(302, { location: `${other.url}/file` }).end()
    else if (request.url === '/here') response.writeHead(307, { location: '/file' }).end()
    else sends(content)(request, response)
  })
  const server = await assetServer(t, { download: from(first.port, other.port) })
  const secret = { name: 'http_header_url:0:Authorization', value: 'Bearer secret' }
  const everywhere = { name: 'http_header:X-Team', value: 'a' }
  const ask = (path: string) => server.fetchBlob({ uris: [`${first.url}${path}`], qualifiers: [secret, everywhere] })
  t.match(await ask('/away'), { status: { code: 0 } })
  t.match(await ask('/here'), { status: { code: 0 } })
  const seen = ({ headers }: IncomingMessage) => [headers.authorization, headers['x-team']]
  t.strictSame(other.requests.map(seen), [[undefined, undefined]])
  t.strictSame(first.requests.map(seen), Array(3).fill(['Bearer secret', 'a']))
})

t.test('content that was downloaded with credentials is not given to those who have none', async (t) => {
  const content = random(50)
  const { url, port } = await origin(t, (request, response) => {
    if (request.headers.authorization === 'Bearer secret') sends(content)(request, response)
    else response.writeHead(401).end()
  })
  const server = await assetServer(t, { download: { ...from(port), without_checksum: 'reuse' } })
  const qualifiers = [{ name: 'http_header:Authorization', value: 'Bearer secret' }]
  const older = [{ name: 'bazel.auth_headers', value: JSON.stringify({ [url]: { Authorization: 'Bearer secret' } }) }]
  t.match(await server.fetchBlob({ uris: [url], qualifiers }), { status: { code: 0 } })
  t.match(await server.fetchBlob({ uris: [url], qualifiers: older }), { status: { code: 0 } })
  t.match(await server.fetchBlob({ uris: [url] }), { status: { code: PERMISSION_DENIED, message: /401/ } })
})

t.test('what an origin answers becomes a status: 404, 403, 429, 500, too much, too slow, nobody there', async (t) => {
  const { url, port } = await origin(t, ({ url: path = '' }, response) => {
    const code = Number(path.slice(1))
    if (code > 0) response.writeHead(code).end('sorry')
    else if (path === '/slow') response.writeHead(200).write('a')
    else if (path === '/long') response.writeHead(200).end(random(5000))
    else if (path === '/said') response.writeHead(200, { 'content-length': 5000 }).end(random(5000))
    else if (path === '/cut') response.writeHead(200, { 'content-length': 100 }).write('a', () => response.destroy())
    else response.writeHead(302, { location: '/round' }).end()
  })
  const gone = await origin(t, () => {})
  const server = await assetServer(t, { download: { ...from(port, 9), max_size: 4000, max_redirects: 3 } })
  const expected: Record<string, readonly [number, RegExp]> = {
    '/404': [NOT_FOUND, /404/],
    '/403': [PERMISSION_DENIED, /403/],
    '/429': [RESOURCE_EXHAUSTED, /429/],
    '/500': [ABORTED, /500/],
    '/long': [RESOURCE_EXHAUSTED, /more than 4000 bytes/],
    '/said': [RESOURCE_EXHAUSTED, /more than 4000 bytes/],
    '/cut': [ABORTED, /cannot be downloaded/],
    '/round': [ABORTED, /redirects more than 3 times/],
  }
  for (const [path, [code, message]] of Object.entries(expected))
    t.match(await server.fetchBlob({ uris: [url + path] }), { status: { code, message } }, path)
  const slow = await server.fetchBlob({ uris: [`${url}/slow`], timeout: durationOf(200) })
  t.match(slow, { status: { code: DEADLINE_EXCEEDED, message: /in 0\.2 s/ } })
  t.match(await server.fetchBlob({ uris: ['http://127.0.0.1:9/'] }), {
    status: { code: ABORTED, message: /nobody listens/ },
  })
  t.match(await server.fetchBlob({ uris: [gone.url] }), { status: { code: PERMISSION_DENIED, message: /port/ } })
  const both = await server.fetchBlob({ uris: ['http://127.0.0.1:9/', `${url}/404`] })
  t.match(both, { status: { code: ABORTED } }, 'a mirror that is away may come back')
})

t.test('a server does not download from addresses that are not public, also behind names and redirects', async (t) => {
  const inside = await origin(t, sends(random(10)))
  const server = await assetServer(t, { download: { allow: ['*'], ports: [80, 443, inside.port] } })
  const refused = { status: { code: PERMISSION_DENIED } }
  for (const host of [
    '127.0.0.1',
    'localhost',
    '[::1]',
    '[::ffff:127.0.0.1]',
    '0.0.0.0',
    '2130706433',
    '0x7f.1',
    '169.254.169.254',
    '10.1.2.3',
    '[fe80::1]',
  ])
    t.match(await server.fetchBlob({ uris: [`http://${host}:${inside.port}/`] }), refused, host)
  t.match(await server.fetchBlob({ uris: [`ftp://127.0.0.1:${inside.port}/`] }), { status: { code: NOT_FOUND } })
  t.match(await server.fetchBlob({ uris: [`http://user:secret@127.0.0.1:${inside.port}/`] }), refused)
  t.equal(inside.requests.length, 0)
  const open = await origin(
    t,
    (_, response) => void response.writeHead(302, { location: `http://127.0.0.2:${inside.port}/` }).end(),
  )
  const allowing = { allow: ['*'], allow_addresses: ['127.0.0.1'], ports: [open.port, inside.port] }
  const other = await assetServer(t, { download: allowing })
  t.match(await other.fetchBlob({ uris: [open.url] }), refused, 'the target of a redirect')
  t.equal(inside.requests.length, 0)
})

t.test('equal requests share one download, which goes on when its client is gone', async (t) => {
  const content = random(200_000)
  let finish = (): void => {}
  const { url, port, requests } = await origin(t, (_, response) => {
    response.writeHead(200).write(content.subarray(0, 1000))
    finish = () => void response.end(content.subarray(1000))
  })
  const server = await assetServer(t, { download: from(port) })
  const request = { uris: [url], qualifiers: [checksum(sri(content))] }
  const impatient = server.client.unary('build.bazel.remote.asset.v1.Fetch/FetchBlob', request)
  await until(() => requests.length !== 0)
  impatient.cancel()
  await impatient.response.catch(() => {})
  const patient = Promise.all([server.fetchBlob(request), server.fetchBlob(request)])
  // Both have joined once a call that came later has been answered.
  await server.missing(content)
  finish()
  for (const found of await patient) t.match(found, { status: { code: 0 }, blobDigest: digestOf(content) })
  t.equal(requests.length, 1)
})

t.test(
  'downloads that were given up hold no turn that others wait for, and begin again when asked for again',
  async (t) => {
    const waiting: ServerResponse[] = []
    const slow = await origin(t, (_, response) => {
      response.writeHead(200).write('slow ')
      waiting.push(response)
    })
    const fast = await origin(t, (_, response) => void response.end('content'))
    const { client, missing } = await assetServer(t, { download: { ...from(slow.port, fast.port), max_concurrent: 2 } })
    const fetch = (uri: string) => client.unary(`${FETCH}/FetchBlob`, { uris: [uri] })
    /** Asks for what the slow origin has, and gives up once `meanwhile` is done. */
    const givenUp = async (meanwhile: () => Promise<unknown>) => {
      const began = waiting.length
      const { response, cancel } = fetch(`${slow.url}/a`)
      const ended = t.rejects(response)
      await until(() => waiting.length > began)
      const other = await meanwhile()
      cancel()
      await ended
      return other
    }
    await givenUp(async () => {})
    t.match(await fetch(`${fast.url}/f`).response, { status: { code: 0 } })
    await until(() => waiting[0]?.destroyed === true)
    const queued = await givenUp(async () => {
      const { response } = fetch(`${fast.url}/other`)
      // It waits once a call that came later has been answered.
      await missing(Buffer.alloc(1))
      return { response }
    })
    t.match(
      await (queued as { response: Promise<object> }).response,
      { status: { code: 0 } },
      'it waited before the other was given up',
    )
    const again = fetch(`${slow.url}/a`)
    await until(() => waiting.length === 3)
    waiting[2]?.end('content')
    t.match(await again.response, { status: { code: 0 } })
  },
)

t.test('slow origins of one client do not stop the downloads of another', async (t) => {
  const waiting: ServerResponse[] = []
  const slow = await origin(t, (_, response) => void waiting.push(response))
  const fast = await origin(t, (_, response) => void response.end('content'))
  const token = (name: string) => ({ name, sha256: sha(Buffer.from(name)) })
  const names = ['one', 'other']
  const security = {
    identity: { tokens: names.map(token) },
    access: [{ may: ['read_cas', 'write_cas', 'read_ac'], names }],
  }
  const download = { ...from(slow.port, fast.port), max_concurrent: 4 }
  const { client } = await assetServer(t, { download, security })
  const fetchAs = (name: string, uri: string) => {
    const metadata = new Metadata()
    metadata.set('authorization', `Bearer ${name}`)
    return client.unary(`${FETCH}/FetchBlob`, { uris: [uri] }, { metadata }).response
  }
  const stuck = Array.from({ length: 20 }, (_, at) => fetchAs('one', `${slow.url}/${at}`))
  await until(() => slow.requests.length >= 2)
  t.match(await fetchAs('other', `${fast.url}/f`), { status: { code: 0 } })
  t.equal(slow.requests.length, 2, 'half of the turns')
  // A download that waits in the line of another client is not held up by that client.
  const shared = fetchAs('one', `${fast.url}/shared`)
  t.match(await fetchAs('other', `${fast.url}/shared`), { status: { code: 0 } })
  await shared
  for (let answered = 0; answered < 20; answered++) {
    await until(() => waiting.length !== 0)
    waiting.shift()?.end('late')
  }
  for (const { status } of await Promise.all(stuck)) t.equal(status.code, 0)
})
