/** What actions have learned to need, as readers see it. */
import t, { type Test } from 'tap'
import { pack } from '../../../src/proto/any.js'
import { codec } from '../../../src/proto/codec.js'
import { durationOf, timestampOf } from '../../../src/proto/time.js'
import { bearer, withHeaders } from '../../security/server.js'
import { EXECUTION, FakeWorker } from '../../service/execution-harness.js'
import { Uploader } from '../actions/fixture.js'
import { rowsIn, startPages, textIn } from '../harness.js'
import { authorized, MARK, security } from '../tenants-fixture.js'

const MIB = 1024 * 1024
const usageCodec = codec('remexec.worker.v1.CommandUsage')
const factsCodec = codec('build.bazel.remote.execution.v2.RequestMetadata')

/** A run of ten seconds. */
const took = (memoryPeakBytes: number, busyMs: number) => ({
  executionStartTimestamp: timestampOf(0),
  executionCompletedTimestamp: timestampOf(10_000),
  auxiliaryMetadata: [pack(usageCodec, { userTime: durationOf(busyMs), systemTime: durationOf(0), memoryPeakBytes })],
})

/** A server where one target of ann's has run. */
const startWith = async (t: Test, simple: object) => {
  const server = await startPages(t, { security, simple })
  const { client, clock } = server
  const ann = new Uploader(client, 'main', authorized('ann'))
  const action = await ann.action({ arguments: [MARK] }, {})
  const worker = await new FakeWorker(client, clock, bearer('token-of-runner')).hello({})
  const metadata = withHeaders(authorized('ann'))
  const facts = { targetId: `//${MARK}`, actionMnemonic: 'CppLink' }
  metadata.set('build.bazel.remote.execution.v2.requestmetadata-bin', factsCodec.encode(facts))
  const request = { instanceName: 'main', actionDigest: action.toMessage(), skipCacheLookup: true }
  client.serverStream(`${EXECUTION}/Execute`, request, { metadata }).resume()
  worker.report(await worker.start(), {
    executeResponse: { result: { exitCode: 0, executionMetadata: took(100 * MIB, 25_000) } },
  })
  await worker.next('resultAck')
  return server
}

const DECLARED = { memory_kb: 'minimum', cpu_count: 'minimum', '*': 'ignore' }

t.test('the page has what the runs of a target took and what its next one reserves, for its tenant', async (t) => {
  const { get } = await startWith(t, { supported_platform_properties: DECLARED, learned_sizes: { use: 'on' } })
  const row = [`//${MARK} CppLink · main`, '105 MB 1 run', '134 MB', '–', '2.5 1 run', '3']
  for (const name of ['ann', 'olga']) {
    const { answer, text } = await get('/sizes', authorized(name))
    t.equal(answer.status, 200, name)
    t.match(textIn(text), 'Scheduler S: on. The next runs reserve memory_kb and cpu_count, unless', name)
    t.same(rowsIn(text).at(-1), row, name)
    t.match(JSON.parse((await get('/sizes.json', authorized(name))).text), {
      count: 1,
      schedulers: [{ scheduler: 'S', use: 'on', compared: ['memory_kb', 'cpu_count'] }],
      kinds: [
        {
          ...{ scheduler: 'S', instance: 'main', target: `//${MARK}`, mnemonic: 'CppLink' },
          memory: { runs: 1, mostBytes: 100 * MIB, nextBytes: 128 * MIB },
          cpus: { runs: 1, most: 2.5, next: 3 },
        },
      ],
    })
  }
  for (const address of ['/sizes', '/sizes.json']) {
    const { answer, text } = await get(address, authorized('bob'))
    t.equal(answer.status, 200, address)
    t.notMatch(text, MARK, `another tenant: ${address}`)
  }
  t.match(JSON.parse((await get('/sizes.json', authorized('bob'))).text), { count: 0, kinds: [] })
  t.notMatch((await get('/sizes')).text, MARK, 'a stranger')
})

t.test('the page says whether what was learned is used', async (t) => {
  const said = async (simple: object): Promise<string> => {
    const { get } = await startWith(t, simple)
    return textIn((await get('/sizes', authorized('olga'))).text)
  }
  const hint = await said({ supported_platform_properties: DECLARED })
  t.match(hint, 'Scheduler S: hint. Nothing is reserved; with on, the next runs would reserve memory_kb and cpu_count.')
  t.match(hint, MARK)
  t.match(await said({}), 'Scheduler S: hint. Nothing is reserved: neither memory nor processors are minimum')
  const off = await said({ learned_sizes: { use: 'off' } })
  t.match(off, 'Scheduler S: off. Nothing is learned.')
  t.notMatch(off, MARK)
})
