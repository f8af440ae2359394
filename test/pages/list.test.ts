/** The list of builds: days, and builds of which only the requests are known. */
import t from 'tap'
import { codec } from '../../src/proto/codec.js'
import { REQUEST_METADATA } from '../../src/proto/request-metadata.js'
import { bazel } from '../builds/harness.js'
import { withHeaders } from '../security/server.js'
import { EXECUTION, FakeWorker, Reader } from '../service/execution-harness.js'
import { Uploader } from './actions/fixture.js'
import { rowsIn, startPages, textIn } from './harness.js'

const DAY_MS = 86_400_000

const titlesIn = (text: string): string[] =>
  [...text.matchAll(/<tr class="group">(.*?)<\/tr>/gs)].map(([, row = '']) => textIn(row))

t.test('builds stand below the days on which they began, as long as they are in that order', async (t) => {
  const noon = Math.floor(Date.now() / DAY_MS) * DAY_MS + DAY_MS / 2
  const invocations = [0, 1, 1, 40].map((days, at) => ({
    id: `build-${at}`,
    startedMs: noon - days * DAY_MS,
    events: [bazel({ finished: { exitCode: { code: at === 1 ? 1 : 0, name: 'X' } } })],
  }))
  const { get } = await startPages(t, { invocations })
  const titles = titlesIn((await get('/')).text)
  t.match(titles[0], /^Today, .* \(UTC\): 1 build$/)
  t.match(titles[1], /^Yesterday, .* \(UTC\): 2 builds, 1 failed$/)
  t.match(titles[2], /^\w{3}, \d+ \w+ \d{4} \(UTC\): 1 build$/)
  t.equal(titles.length, 3)
  t.same(titlesIn((await get('/?sort=took')).text), [])
  t.match((await get('/')).text, /href="#list"[^>]*>\s*Skip to the list/)
})

t.test('a build that ran actions here without sending events has a name, and says what ran and failed', async (t) => {
  const { client, clock, get } = await startPages(t)
  const uploader = new Uploader(client, 'main')
  const worker = await new FakeWorker(client, clock).hello()
  for (const exitCode of [0, 3]) {
    const actionDigest = (await uploader.action({ arguments: [`run ${exitCode}`], outputPaths: ['x'] })).toMessage()
    const metadata = withHeaders({})
    const facts = {
      toolDetails: { toolName: 'reclient', toolVersion: '1.2' },
      ...{ toolInvocationId: 'quiet', targetId: `//:${exitCode}`, actionMnemonic: 'Genrule' },
    }
    metadata.set(REQUEST_METADATA, codec('build.bazel.remote.execution.v2.RequestMetadata').encode(facts))
    const request = { instanceName: 'main', actionDigest, skipCacheLookup: true }
    const stream = new Reader(client.serverStream(`${EXECUTION}/Execute`, request, { metadata }))
    worker.report(await worker.start(), { executeResponse: { result: { exitCode } } })
    await stream.rest()
  }
  const [, row = []] = rowsIn((await get('/')).text)
  t.equal(row[0], '○ no events')
  t.equal(row[1], 'reclient 1.2: //:0 and others 2 actions ran here, 1 failed')
  const page = await get('/invocation/quiet')
  t.match(textIn(page.text), '○ no events reclient 1.2: //:0 and others Invocation quiet in instance main')
  t.match(textIn(page.text), '2 actions ran here 1 of them failed')
  const { builds } = JSON.parse((await get('/builds.json')).text)
  t.match(builds, [{ outcome: 'no events', executions: { count: 2, failed: 1 } }])
  t.equal(JSON.parse((await get('/invocation/quiet.json')).text).outcome, 'no events')
})

t.test('the queue names a build by its command and its user, for readers who may see builds', async (t) => {
  const { client, clock, get } = await startPages(t, {
    invocations: [
      {
        id: 'known',
        events: [
          bazel({ id: { pattern: { pattern: ['//shop/...'] } }, expanded: {} }),
          bazel({ started: { command: 'test' } }),
          bazel({ workspaceStatus: { item: [{ key: 'BUILD_USER', value: 'ann' }] } }),
        ],
      },
    ],
  })
  const uploader = new Uploader(client, 'main')
  const worker = await new FakeWorker(client, clock).hello()
  const actionDigest = (await uploader.action({ arguments: ['run'], outputPaths: ['x'] })).toMessage()
  const metadata = withHeaders({})
  const facts = { toolInvocationId: 'known', targetId: '//shop:cart' }
  metadata.set(REQUEST_METADATA, codec('build.bazel.remote.execution.v2.RequestMetadata').encode(facts))
  const request = { instanceName: 'main', actionDigest, skipCacheLookup: true }
  await new Reader(client.serverStream(`${EXECUTION}/Execute`, request, { metadata })).next()
  await worker.start()
  const [, row = []] = rowsIn((await get('/queue')).text)
  t.equal(row[1], 'test //shop/... ann · main')
})
