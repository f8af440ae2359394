import { createServer, type IncomingMessage, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import type { Test } from 'tap'

interface Entry {
  readonly body: Buffer
  readonly headers: Readonly<Record<string, string>>
}

/** One request to the small cache, of which a fault changes the answer. */
export interface Asked {
  readonly method: string
  readonly url: string
  readonly body: Buffer
  readonly isWhole: boolean
  readonly entries: Map<string, Entry>
}

export interface Told {
  status: number
  body: Buffer
  headers: Record<string, string>
}

export interface Fault {
  readonly name: string
  /** The kind of cache that the suite takes the server for. */
  readonly kind: string
  readonly caughtBy: string
  /** Before the request counts; a truthy value takes the place of the rest. */
  before?(asked: Asked): Told | undefined
  after?(asked: Asked, told: Told): void
}

const told = (status: number, body: string | Buffer = '', headers: Record<string, string> = {}): Told => ({
  status,
  body: Buffer.from(body),
  headers,
})

const KEPT = ['x-artifact-tag', 'x-artifact-duration']
const MULTISTATUS =
  '<?xml version="1.0"?><D:multistatus xmlns:D="DAV:"><D:response><D:href>/</D:href><D:propstat><D:prop><D:resourcetype><D:collection/></D:resourcetype></D:prop><D:status>HTTP/1.1 200 OK</D:status></D:propstat></D:response></D:multistatus>'

const answer = (request: IncomingMessage, { method, url, body, isWhole, entries }: Asked): Told => {
  if (!isWhole) return told(400)
  if (url.endsWith('/artifacts/status')) return told(200, '{"status":"enabled"}')
  const entry = entries.get(url)
  if (method === 'PUT') {
    const headers = KEPT.flatMap((name) =>
      request.headers[name] === undefined ? [] : [[name, String(request.headers[name])]],
    )
    entries.set(url, { body, headers: Object.fromEntries(headers) })
    return told(200)
  }
  if (method === 'GET' || method === 'HEAD')
    return entry === undefined
      ? told(404)
      : told(200, entry.body, { 'content-type': 'application/octet-stream', ...entry.headers })
  if (method === 'DELETE') return told(entries.delete(url) ? 204 : 404)
  if (method === 'PROPFIND') return told(207, MULTISTATUS)
  return told(method === 'MKCOL' ? 201 : 200)
}

const bodyOf = async (request: IncomingMessage): Promise<{ body: Buffer; isWhole: boolean }> => {
  const chunks: Buffer[] = []
  try {
    for await (const chunk of request) chunks.push(chunk as Buffer)
  } catch {
    return { body: Buffer.concat(chunks), isWhole: false }
  }
  return { body: Buffer.concat(chunks), isWhole: request.complete }
}

/** A small HTTP cache of every kind, in memory, with one fault; gives its address. */
export const startSmallCache = async (t: Test, fault?: Fault): Promise<string> => {
  const entries = new Map<string, Entry>()
  const serve = async (request: IncomingMessage, response: ServerResponse): Promise<void> => {
    const asked = { method: request.method ?? '', url: request.url ?? '', entries, ...(await bodyOf(request)) }
    const given = fault?.before?.(asked) ?? answer(request, asked)
    fault?.after?.(asked, given)
    if (response.destroyed) return
    const length = { 'content-length': String(given.body.length) }
    response.writeHead(given.status, { ...length, ...given.headers })
    response.end(asked.method === 'HEAD' ? undefined : given.body)
  }
  const server = createServer((request, response) => void serve(request, response))
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  t.teardown(() => {
    server.closeAllConnections()
    server.close()
  })
  return `http://127.0.0.1:${(server.address() as AddressInfo).port}/cache`
}

const isStored = ({ method, url, entries }: Asked): boolean => method === 'GET' && entries.has(url)
const isPut = ({ method }: Asked): boolean => method === 'PUT'

export const faults: readonly Fault[] = [
  {
    name: 'an absent entry is 204',
    kind: 'gradle',
    caughtBy: 'HTC-01',
    after: (_, given) => {
      if (given.status === 404) given.status = 204
    },
  },
  {
    name: 'Nx is told 201',
    kind: 'nx',
    caughtBy: 'HTC-02',
    after: (asked, given) => {
      if (isPut(asked)) given.status = 201
    },
  },
  {
    name: 'entries are cut at 2,000 bytes',
    kind: 'ccache',
    caughtBy: 'HTC-02',
    after: (asked, given) => {
      if (isStored(asked)) given.body = given.body.subarray(0, 2_000)
    },
  },
  {
    name: 'a long page acknowledges uploads',
    kind: 'bazel',
    caughtBy: 'HTC-02',
    after: (asked, given) => {
      if (isPut(asked)) given.body = Buffer.alloc(20_000, 'ok')
    },
  },
  {
    name: 'entries are taken for text',
    kind: 'plain',
    caughtBy: 'HTC-03',
    after: (asked, given) => {
      if (isStored(asked)) given.body = Buffer.from(given.body.toString('utf8'))
    },
  },
  {
    name: 'entries of no bytes are not kept',
    kind: 'turborepo',
    caughtBy: 'HTC-03',
    before: (asked) => (isPut(asked) && asked.body.length === 0 ? told(200) : undefined),
  },
  {
    name: 'two entries under one name are joined',
    kind: 'webdav',
    caughtBy: 'HTC-04',
    before: (asked) => {
      const before = asked.entries.get(asked.url)
      if (!isPut(asked) || before === undefined) return undefined
      asked.entries.set(asked.url, { ...before, body: Buffer.concat([before.body, asked.body]) })
      return told(200)
    },
  },
  {
    name: 'half an upload is an entry',
    kind: 'gradle',
    caughtBy: 'HTC-05',
    before: (asked) => {
      if (isPut(asked) && !asked.isWhole) asked.entries.set(asked.url, { body: asked.body, headers: {} })
      return undefined
    },
  },
  {
    name: 'large entries are cut',
    kind: 'plain',
    caughtBy: 'HTC-07',
    after: (asked, given) => {
      if (isStored(asked)) given.body = given.body.subarray(0, 1 << 20)
    },
  },
  {
    name: 'each answer closes its connection',
    kind: 'bazel',
    caughtBy: 'HTC-08',
    after: (_, given) => {
      given.headers['connection'] = 'close'
    },
  },
  {
    name: 'HEAD tells another length',
    kind: 'turborepo',
    caughtBy: 'HTC-09',
    after: (asked, given) => {
      if (asked.method === 'HEAD' && given.status === 200) given.body = Buffer.alloc(7)
    },
  },
  {
    name: 'every tenth entry is that before',
    kind: 'ccache',
    caughtBy: 'HTC-10',
    after: (asked, given) => {
      const bodies = [...asked.entries.values()]
      if (isStored(asked) && bodies.findIndex(({ body }) => body.equals(given.body)) % 10 === 9)
        given.body = bodies[8]?.body ?? given.body
    },
  },
  {
    name: 'the first result of an action stays',
    kind: 'bazel',
    caughtBy: 'HTB-01',
    before: (asked) =>
      isPut(asked) && /\/ac\//.test(asked.url) && asked.entries.has(asked.url) ? told(200) : undefined,
  },
  { name: 'any bytes are kept under a hash', kind: 'bazel', caughtBy: 'HTB-02' },
  {
    name: 'a deleted entry stays',
    kind: 'ccache',
    caughtBy: 'HTK-01',
    before: (asked) => (asked.method === 'DELETE' ? told(204) : undefined),
  },
  {
    name: 'entries of the older type are refused',
    kind: 'gradle',
    caughtBy: 'HTG-01',
    before: (asked) => (isPut(asked) ? told(415) : undefined),
  },
  {
    name: 'a second upload of Nx is 412',
    kind: 'nx',
    caughtBy: 'HTN-01',
    before: (asked) => (isPut(asked) && asked.entries.has(asked.url) ? told(412) : undefined),
  },
  {
    name: 'there is no status',
    kind: 'turborepo',
    caughtBy: 'HTT-01',
    after: (asked, given) => {
      if (asked.url.endsWith('/status')) given.body = Buffer.from('fine')
    },
  },
  {
    name: 'tags are lost',
    kind: 'turborepo',
    caughtBy: 'HTT-02',
    after: (_, given) => {
      delete given.headers['x-artifact-tag']
    },
  },
  {
    name: 'teams share artifacts',
    kind: 'turborepo',
    caughtBy: 'HTT-03',
    before: (asked) => {
      const [hash] = asked.url.split('?')
      const entry = [...asked.entries].find(([url]) => url.startsWith(hash ?? ''))?.[1]
      return asked.method === 'GET' && entry ? told(200, entry.body) : undefined
    },
  },
  {
    name: 'a preflight is refused',
    kind: 'turborepo',
    caughtBy: 'HTT-04',
    before: (asked) => (asked.method === 'OPTIONS' ? told(405) : undefined),
  },
  {
    name: 'PROPFIND is refused',
    kind: 'webdav',
    caughtBy: 'HTW-01',
    before: (asked) => (asked.method === 'PROPFIND' ? told(405) : undefined),
  },
  {
    name: 'MKCOL makes nothing',
    kind: 'webdav',
    caughtBy: 'HTW-02',
    before: (asked) => (asked.method === 'MKCOL' ? told(403) : undefined),
  },
]
