import t from 'tap'
import { compressors } from '../../src/reapi/compressor.js'
import { AC, BLAKE3, CAPABILITIES, CAS, failure, MIB, randomBlob, serve, wire } from './harness.js'

const instances = {
  '': { hasExecution: true },
  cache: { isReadOnly: true, digestFunctions: [BLAKE3] },
}

t.test('CAP-02, CAP-03, CAP-05, CAP-06, CAP-09 to CAP-19: announced capabilities', async (t) => {
  const { client } = await serve(t, { instances })
  const ask = (instanceName: string) => client.unary(`${CAPABILITIES}/GetCapabilities`, { instanceName }).response
  const {
    lowApiVersion,
    highApiVersion,
    deprecatedApiVersion,
    cacheCapabilities: cache,
    executionCapabilities: execution,
  } = await ask('')
  t.match(lowApiVersion, { major: 2, minor: 0, patch: 0, prerelease: '' }, 'CAP-02, CAP-18')
  t.match(highApiVersion, { major: 2, minor: 3, patch: 0, prerelease: '' }, 'CAP-03')
  t.equal(deprecatedApiVersion, null)
  t.same(cache.digestFunctions, [1, 9], 'CAP-05')
  t.equal(execution.digestFunction, 1, 'CAP-06')
  t.same(execution.digestFunctions, [1, 9])
  t.equal(execution.execEnabled, true, 'CAP-07')
  t.equal(cache.maxBatchTotalSizeBytes, 4 * MIB, 'CAP-09')
  t.equal(cache.symlinkAbsolutePathStrategy, 2, 'CAP-10: ALLOWED')
  t.same(cache.supportedCompressors, [1, 2, 3], 'CAP-11: zstd first, no IDENTITY')
  t.same(
    cache.supportedBatchUpdateCompressors,
    compressors.map(({ value }) => value),
    'CAP-12',
  )
  t.equal(cache.maxCasBlobSizeBytes, 0, 'CAP-13')
  t.equal(cache.splitBlobSupport || cache.spliceBlobSupport, false, 'CAP-14')
  t.equal(cache.fastCdc2020Params, null, 'CAP-15')
  t.match(execution.executionPriorityCapabilities.priorities, [{ minPriority: -100, maxPriority: 100 }], 'CAP-16')
  t.equal(cache.cachePriorityCapabilities.priorities.length, 1)
  t.same(execution.supportedNodeProperties, [], 'CAP-17')

  const other = await ask('cache')
  t.same(other.cacheCapabilities.digestFunctions, [9], 'CAP-19')
  t.equal(other.executionCapabilities, null, 'CAP-04')
})

t.test('CAP-08, CAP-13: the server behaves as announced', async (t) => {
  const { client } = await serve(t, { instances })
  for (const instanceName of ['', 'cache']) {
    const { cacheCapabilities } = await client.unary(`${CAPABILITIES}/GetCapabilities`, { instanceName }).response
    const request = { instanceName, actionDigest: wire(randomBlob(10).digest), actionResult: {} }
    const { code } = await failure(client.unary(`${AC}/UpdateActionResult`, request).response)
    t.equal(cacheCapabilities.actionCacheUpdateCapabilities.updateEnabled, code === 'OK', `CAP-08: ${instanceName}`)
  }
  const large = { digest: wire(randomBlob(5001).digest), data: Buffer.alloc(5001) }
  const { responses } = await client.unary(`${CAS}/BatchUpdateBlobs`, { instanceName: 'cache', requests: [large] })
    .response
  t.equal(responses[0].status.code, 3, 'CAP-13')
})

t.test('CAP-01, INS-02, RMD-01, GEN-11: cheap, concurrent, for known instances', async (t) => {
  const { client } = await serve(t, { instances })
  const answers = Array.from(
    { length: 100 },
    () => client.unary(`${CAPABILITIES}/GetCapabilities`, { instanceName: '' }).response,
  )
  t.equal((await Promise.all(answers)).length, 100)
  const unknown = await failure(client.unary(`${CAPABILITIES}/GetCapabilities`, { instanceName: 'nope' }).response)
  t.equal(unknown.code, 'INVALID_ARGUMENT')
})
