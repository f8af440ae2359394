import fc from 'fast-check'
import t from 'tap'
import { ManualClock } from '../../src/base/clock.js'
import { codec } from '../../src/proto/codec.js'
import { requestFacts } from '../../src/proto/request-metadata.js'
import { type ActionOutcome, type RequestRecord, RequestRecords } from '../../src/rpc/request-records.js'

const metadataCodec = codec('build.bazel.remote.execution.v2.RequestMetadata')
const header = metadataCodec.encode({
  toolDetails: { toolName: 'bazel', toolVersion: '7.7.1' },
  ...{ toolInvocationId: 'build', targetId: '//a:b', actionMnemonic: 'CppCompile', configurationId: 'k8' },
})
const said = { tool: 'bazel 7.7.1', invocation: 'build', target: '//a:b', mnemonic: 'CppCompile', configuration: 'k8' }

const unsaid = { tool: '', invocation: '', target: '', mnemonic: '', configuration: '' }
const shape = fc.record({
  instance: fc.constantFrom('', 'main', 'größe/\u{1F980}'),
  length: fc.integer({ min: 0, max: 1000 }),
  header: fc.constantFrom(undefined, header, header.toString('base64')),
  reason: fc.constantFrom(undefined, 'absent'),
})

t.test('records say what was asked, for which build, and what became of it, the newest first', async (t) => {
  const clock = new ManualClock(1000)
  const records = new RequestRecords(clock, requestFacts)
  t.same([...records], [])
  records.add('main', header.toString('base64'), { action: 'a-1', outcome: 'hit', sizeBytes: 10 })
  clock.advance(5)
  records.add('main', header, { action: 'b-1', outcome: 'miss', reason: 'incomplete', output: 'c-1' })
  records.add('', undefined, { action: 'd-1', outcome: 'miss', reason: 'absent', via: '/http' })
  t.same(
    [...records],
    [
      { timeMs: 1005, instance: '', action: 'd-1', outcome: 'miss', reason: 'absent', via: '/http', ...unsaid },
      { timeMs: 1005, instance: 'main', action: 'b-1', outcome: 'miss', reason: 'incomplete', output: 'c-1', ...said },
      { timeMs: 1000, instance: 'main', action: 'a-1', outcome: 'hit', sizeBytes: 10, ...said },
    ],
  )
})

t.test('the ring is bounded, and so is each record', async (t) => {
  const records = new RequestRecords(new ManualClock(), requestFacts)
  for (let at = 0; at < 20_000; at++) records.add('', 'x'.repeat(5000), { action: `${at}`, outcome: 'written' })
  const all = [...records]
  t.equal(all.length, 16_384)
  t.equal(all[0]?.action, '19999')
  t.equal(all.at(-1)?.action, '3616')
  t.equal(all[0]?.invocation, '')
})

t.test('records of any length are read as they were added, until their room is needed', async (t) => {
  const property = fc.property(fc.array(shape, { minLength: 1, maxLength: 50 }), (shapes) => {
    const records = new RequestRecords(new ManualClock(), requestFacts)
    const added: RequestRecord[] = []
    for (let at = 0; at < 40_000; at++) {
      const { instance, length, header, reason } = shapes[at % shapes.length] as (typeof shapes)[0]
      const action = `${'x'.repeat(length)}-${at}`
      const outcome: ActionOutcome = { action, outcome: 'miss', sizeBytes: at, ...(reason && { reason }) }
      records.add(instance, header, outcome)
      added.push({ timeMs: 0, instance, ...outcome, ...(header ? said : unsaid) })
    }
    const read = [...records]
    t.ok(read.length > 5000, `${read.length} records fit`)
    t.same(read, added.slice(-read.length).reverse())
  })
  fc.assert(property, { numRuns: 5, endOnFailure: true })
})

t.test('a reader in steps is told no record twice while others are added', async (t) => {
  const records = new RequestRecords(new ManualClock(), requestFacts)
  for (let at = 0; at < 20_000; at++) records.add('', undefined, { action: `${at}`, outcome: 'hit' })
  const told = []
  for (const { action } of records) {
    told.push(Number(action))
    records.add('', undefined, { action: 'later', outcome: 'hit' })
  }
  t.same(
    told,
    Array.from({ length: 8192 }, (_, back) => 19_999 - back),
  )
})

t.test('a header that cannot be decoded says nothing', async (t) => {
  t.equal(requestFacts(Buffer.from([0xff])).invocation, '')
})
