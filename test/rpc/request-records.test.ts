import t from 'tap'
import { ManualClock } from '../../src/base/clock.js'
import { codec } from '../../src/proto/codec.js'
import { requestFacts } from '../../src/proto/request-metadata.js'
import { RequestRecords } from '../../src/rpc/request-records.js'

const metadataCodec = codec('build.bazel.remote.execution.v2.RequestMetadata')
const header = metadataCodec.encode({
  ...{ toolInvocationId: 'build', targetId: '//a:b', actionMnemonic: 'CppCompile', configurationId: 'k8' },
})
const said = { invocation: 'build', target: '//a:b', mnemonic: 'CppCompile', configuration: 'k8' }

t.test('records say what was asked, for which build, and what became of it, the newest first', async (t) => {
  const clock = new ManualClock(1000)
  const records = new RequestRecords(clock, requestFacts)
  t.same([...records], [])
  records.add('main', header.toString('base64'), { action: 'a-1', outcome: 'hit', sizeBytes: 10 })
  clock.advance(5)
  records.add('main', header, { action: 'b-1', outcome: 'miss', reason: 'incomplete', output: 'c-1' })
  records.add('', undefined, { action: 'd-1', outcome: 'miss', reason: 'absent' })
  const unsaid = { invocation: '', target: '', mnemonic: '', configuration: '' }
  t.same(
    [...records],
    [
      { timeMs: 1005, instance: '', action: 'd-1', outcome: 'miss', reason: 'absent', ...unsaid },
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

t.test('a header that cannot be decoded says nothing', async (t) => {
  t.equal(requestFacts(Buffer.from([0xff])).invocation, '')
})
