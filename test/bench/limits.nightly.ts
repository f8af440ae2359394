import t from 'tap'
import type { Limit, RateCase } from '../../bench/case.js'
import { BARE_HTTP } from '../../bench/cases/http-cache.js'
import { allCases } from '../../bench/cases.js'
import type { LoadResult } from '../../bench/load/request.js'
import { benchConfig } from '../../bench/server/config.js'
import { memoryPlace } from '../../bench/server/place.js'
import { type ServerProcess, startBare, startBareHttp, startRemexec } from '../../bench/server/process.js'

// For changes in: bench

const BARE = ['bare handler', BARE_HTTP]
/** How far answers may differ: messages that a stream is cut into, what zstd makes of a blob. */
const NEAR = 0.1

/** The larger cases are the same code for longer. */
const isSmall = ({ name, isSlow }: RateCase): boolean => isSlow !== true && !/64 MiB|200 at once|\(10000\)/.test(name)

/** Here a bare handler answers less by design, as the bench's README says: stages of an execution, a list of what is served. */
const answersLess = ({ name }: RateCase): boolean => /^(no-op|session)/.test(name)

const isBare = ({ name }: Limit): boolean => BARE.includes(name)

const nothing = async (): Promise<void> => {}

const cases = allCases({ clients: 2 }).flatMap((subject) =>
  subject.kind === 'rate' && isSmall(subject) && subject.limits.some(isBare) ? [subject] : [],
)

t.test('a bare handler gets the same bytes as the server and answers as many', async (t) => {
  const [bare, bareHttp] = await Promise.all([startBare(), startBareHttp()])
  const servers = new Map<string, ServerProcess>()
  t.teardown(() => Promise.all([bare, bareHttp, ...servers.values()].map((server) => server.stop())))
  for (const subject of cases) {
    const { configure = benchConfig, name, requests } = subject
    const server = servers.get(configure.name) ?? (await startRemexec(configure, { place: memoryPlace }))
    servers.set(configure.name, server)
    await subject.setUp?.(server)
    const count = Math.min(requests.least, 4)
    const ours = await subject.run(server, count, nothing)
    const limit = subject.limits.find(isBare)
    const its = await limit?.run(limit.isBareHttp ? bareHttp : bare, count, nothing)
    await subject.tearDown?.()
    const [sent, received] = [bytesOf(ours, 'sent'), bytesOf(ours, 'received')]
    t.ok(isNear(bytesOf(its, 'sent'), sent), `${name}: ${sent} bytes sent, to the limit ${bytesOf(its, 'sent')}`)
    if (answersLess(subject)) continue
    t.ok(
      isNear(bytesOf(its, 'received'), received),
      `${name}: ${received} bytes came, from the limit ${bytesOf(its, 'received')}`,
    )
  }
})

const bytesOf = (result: LoadResult | undefined, way: 'sent' | 'received'): number =>
  result?.wireBytes?.[way] ?? Number.NaN

const isNear = (bytes: number, expected: number): boolean => Math.abs(bytes - expected) <= expected * NEAR
