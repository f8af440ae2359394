import { createHash } from 'node:crypto'
import { Metadata, type ServiceError } from '@grpc/grpc-js'
import t from 'tap'
import { unpack } from '../../src/proto/any.js'
import { codec } from '../../src/proto/codec.js'
import type { TestClient } from '../server/client.js'
import { CAPABILITIES, failure } from '../service/harness.js'
import { bearer, startGuarded, withHeaders } from './server.js'

const sha256 = (text: string): string => createHash('sha256').update(text).digest('hex')
const statusCodec = codec('google.rpc.Status')
const retryInfoCodec = codec('google.rpc.RetryInfo')

const ask = (client: TestClient, metadata: Metadata = new Metadata()): Promise<unknown> =>
  client.unary(`${CAPABILITIES}/GetCapabilities`, { instanceName: 'main' }, { metadata }).response

const codes = async (client: TestClient, count: number, metadata?: Metadata): Promise<string> => {
  const found: string[] = []
  for (let i = 0; i < count; i++) found.push((await failure(ask(client, metadata))).code)
  return found.join(' ')
}

const SECURITY = {
  identity: {
    tokens: [
      { name: 'ci', sha256: sha256('a'), groups: ['trusted'] },
      ...['b', 'c'].map((name) => ({ name, sha256: sha256(name) })),
    ],
  },
  access: [{ anonymous: true, may: ['read_cas', 'read_ac'] }],
  request_limits: [
    { groups: ['trusted'], requests_per_s: 1000, burst: 1000 },
    { names: ['*'], requests_per_s: 2, burst: 3 },
    { anonymous: true, requests_per_s: 0.5, burst: 2 },
  ],
}

for (const transport of ['remexec', 'grpc-js']) {
  t.test(`${transport}: each caller has a limit of requests, and learns when to retry`, async (t) => {
    const { client, clock } = await startGuarded(t, SECURITY, { transport })
    t.equal(await codes(client, 5, bearer('b')), 'OK OK OK RESOURCE_EXHAUSTED RESOURCE_EXHAUSTED')
    t.equal(await codes(client, 3, bearer('c')), 'OK OK OK', 'another is counted for itself')
    t.notMatch(await codes(client, 20, bearer('a')), /EXHAUSTED/, 'the first limit that is about a caller counts')
    const error: ServiceError = await ask(client, bearer('b')).then(
      () => t.fail('was let in'),
      (thrown) => thrown,
    )
    t.match(error.details, /b may make 2 a second, and 3 at once; try again in 500 ms/)
    const [detail] = error.metadata.get('grpc-status-details-bin')
    const { code, details } = statusCodec.decode(detail as Buffer)
    t.equal(code, 8)
    const [told] = details
    t.match(told?.typeUrl, /google\.rpc\.RetryInfo$/)
    const { retryDelay } = unpack(retryInfoCodec, told ?? { typeUrl: '', value: Buffer.alloc(0) })
    t.same([Number(retryDelay?.seconds), retryDelay?.nanos], [0, 500_000_000])
    clock.advance(499)
    t.equal(await codes(client, 1, bearer('b')), 'RESOURCE_EXHAUSTED')
    clock.advance(1)
    t.equal(await codes(client, 2, bearer('b')), 'OK RESOURCE_EXHAUSTED', 'after as long as it was told')
    clock.advance(60_000)
    t.equal(await codes(client, 4, bearer('b')), 'OK OK OK RESOURCE_EXHAUSTED', 'no more than burst is saved up')
  })

  t.test(`${transport}: callers that guess tokens are counted as anonymous`, async (t) => {
    const { client, clock } = await startGuarded(t, SECURITY, { transport })
    t.equal(
      await codes(client, 4, bearer('guess')),
      'UNAUTHENTICATED UNAUTHENTICATED RESOURCE_EXHAUSTED RESOURCE_EXHAUSTED',
    )
    t.equal(await codes(client, 1), 'RESOURCE_EXHAUSTED', 'of one address')
    t.equal(await codes(client, 1, withHeaders({ authorization: 'Basic eDp5' })), 'RESOURCE_EXHAUSTED')
    t.equal(await codes(client, 1, bearer('c')), 'OK', 'who is known is not')
    clock.advance(2000)
    t.equal(await codes(client, 2), 'OK RESOURCE_EXHAUSTED')
  })
}

t.test('a page beyond the limit is 429 with the seconds to wait', async (t) => {
  const limits = [{ anonymous: true, requests_per_s: 0.25, burst: 1 }]
  const { port } = await startGuarded(t, { ...SECURITY, request_limits: limits })
  const get = () => fetch(`http://127.0.0.1:${port}/`)
  t.equal((await get()).status, 401)
  const second = await get()
  t.same([second.status, second.headers.get('retry-after')], [429, '4'])
})

t.test('probes are not counted', async (t) => {
  const { client } = await startGuarded(t, SECURITY)
  for (let i = 0; i < 10; i++) await client.unary('grpc.health.v1.Health/Check', {}).response
  t.equal(await codes(client, 3), 'OK OK RESOURCE_EXHAUSTED')
})
