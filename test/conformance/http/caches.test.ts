import t from 'tap'
import { checks } from '../../../conformance/checks/all.js'
import { lacks, openHttpCandidate } from '../../../conformance/exam/candidate.js'
import { type Result, runChecks } from '../../../conformance/run/runner.js'
import { httpAddressOf } from '../../../conformance/wire/http.js'
import { startServer } from '../server.js'
import { faults, startSmallCache } from './small-cache.js'

t.setTimeout(180_000)

const rows = checks.filter(({ needs = [] }) => needs.some((need) => need.startsWith('http')))

const examined = async (addresses: readonly string[], ids?: readonly string[]): Promise<Result[]> => {
  const http = addresses.map(httpAddressOf)
  const settings = { address: '', instanceName: '', properties: [], headers: {}, tls: {}, patience: 4, http }
  const candidate = openHttpCandidate(settings)
  try {
    return await runChecks(
      rows.filter(({ id }) => ids?.includes(id) ?? true),
      candidate,
      {
        concurrency: 8,
        missing: lacks(candidate, new Set()),
        isAlive: () => Promise.resolve(true),
        onResult: () => {},
      },
    )
  } finally {
    candidate.client.close()
    for (const cache of candidate.http.values()) cache.close()
  }
}

const findings = (results: readonly Result[]): string[] =>
  results
    .filter(({ verdict }) => !['pass', 'chosen', 'skip'].includes(verdict))
    .map(({ requirement, verdict, reason }) => `${requirement.id} ${verdict}: ${reason}`)

t.test('the HTTP caches of this server have no finding, without a gRPC address', async (t) => {
  const address = (await startServer(t)).replace('grpc:', 'http:')
  const kinds = ['ccache', 'gradle', 'nx'].map((kind) => `${kind}+${address}/${kind}`)
  const others = [`turborepo+${address}/turbo`, `webdav+${address}/sccache`, `plain+${address}/files`]
  const results = await examined([`${address}/bazel`, ...kinds, ...others])
  t.strictSame(findings(results), [])
  t.strictSame(
    results.filter(({ verdict }) => verdict === 'skip').map(({ requirement }) => requirement.id),
    ['HTB-03'],
    'what needs gRPC too',
  )
})

t.test('a small cache without a fault has no finding but that it keeps any bytes under a hash', async (t) => {
  const kinds = ['bazel', 'ccache', 'gradle', 'turborepo', 'nx', 'webdav', 'plain']
  const addresses = await Promise.all(kinds.map(async (kind) => `${kind}+${await startSmallCache(t)}`))
  const found = findings(await examined(addresses))
  t.strictSame(
    found.map((each) => each.slice(0, 11)),
    ['HTB-02 warn'],
    found.join('\n'),
  )
})

t.test('each fault of an HTTP cache is seen by its row', async (t) => {
  for (const fault of faults) {
    const [result] = await examined([`${fault.kind}+${await startSmallCache(t, fault)}`], [fault.caughtBy])
    t.ok(
      ['fail', 'warn'].includes(result?.verdict ?? ''),
      `${fault.name}: ${fault.caughtBy} ${result?.verdict} ${result?.reason}`,
    )
  }
})

t.test('every row about HTTP caches that is not a choice is shown to see a fault', async (t) => {
  const shown = new Set(faults.map(({ caughtBy }) => caughtBy))
  const blind = rows.map(({ id }) => id).filter((id) => !shown.has(id) && !['HTC-06', 'HTB-03'].includes(id))
  t.strictSame(blind, [], 'HTC-06 needs a server that cannot read chunks, which Node has not')
})

t.test('a wrong address is refused with what was expected', async (t) => {
  t.throws(() => httpAddressOf('ftp://host/'), /--http ftp:\/\/host\/: expected http:\/\/HOST:PORT\/PATH/)
  t.throws(() => httpAddressOf('maven+http://host/'), /expected .*KIND\+http/)
  t.strictSame(httpAddressOf('http://host:1/a'), { kind: 'bazel', address: 'http://host:1/a' })
})
