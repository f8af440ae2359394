import t from 'tap'
import { securedCases } from '../../bench/cases/secured.js'
import { CAS } from '../../bench/content.js'
import { each } from '../../bench/load/each.js'
import { clientTls } from '../../bench/server/certificates.js'
import { memoryPlace } from '../../bench/server/place.js'
import { startRemexec } from '../../bench/server/process.js'

// For changes in: bench, src/server, src/tls

const REQUESTS = 4
const FIND_MISSING = `${CAS}/FindMissingBlobs`
const nothing = async (): Promise<void> => {}

const [findMissing] = securedCases()

t.test('each of the four servers is asked as it wants to be', async (t) => {
  if (findMissing === undefined) throw new Error('there is no such case')
  const sides = [findMissing, ...findMissing.limits]
  for (const { configure, name, run } of sides) {
    if (configure === undefined) throw new Error(`${name} has no configuration`)
    const server = await startRemexec(configure, { place: memoryPlace, tls: clientTls })
    await findMissing.setUp?.(server)
    const { requests } = await run(server, REQUESTS, nothing)
    t.equal(requests, REQUESTS, name)
    t.equal(server.tls !== undefined, /TLS/.test(name))
    const asStranger = each(server, [{ path: FIND_MISSING, messages: [Buffer.alloc(0)] }], { concurrency: 1 })
    if (/token/.test(name)) await t.rejects(asStranger, /grpc-status 16/, 'nobody is let in without a token')
    else await asStranger
    await server.stop()
  }
})
