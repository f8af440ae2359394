// For changes in: src/builds, src/service/build-events
/** One stream of more than two gigabytes of events, through a whole server, and its pages. */
import { once } from 'node:events'
import { stat } from 'node:fs/promises'
import { join } from 'node:path'
import t from 'tap'
import { keyOf } from '../../src/builds/about.js'
import { codec } from '../../src/proto/codec.js'
import { startPages, textIn } from '../pages/harness.js'
import { bazel, folderFor, LAST, progress } from './harness.js'

const METHOD = '/google.devtools.build.v1.PublishBuildEvent/PublishBuildToolEventStream'
const requests = codec('remexec.builds.v1.ToolEvent')
const responses = codec('google.devtools.build.v1.PublishBuildToolEventStreamResponse')

const LINES = `${'INFO: compiling a file with a long name\n'.repeat(26_000)}`
const EVENT = progress(LINES)
const KEPT_BYTES = 2 ** 31
const COUNT = Math.ceil((KEPT_BYTES * 1.1) / EVENT.length)

t.setTimeout(600_000)

t.test('beyond its bound a stream is acknowledged and counted, and its pages say so', async (t) => {
  const path = await folderFor(t)
  const { client, get } = await startPages(t, { services: { build_events: { path } } })
  const call = client.client.makeBidiStreamRequest(
    METHOD,
    (bytes: Buffer) => bytes,
    (bytes: Buffer) => responses.decode(bytes),
  )
  let acknowledged = 0
  call.on('data', ({ sequenceNumber }) => {
    acknowledged += 1
    if (sequenceNumber !== acknowledged) t.fail(`acknowledged ${sequenceNumber} after ${acknowledged - 1}`)
  })
  const ended = once(call, 'status')
  let residentBytes = 0
  const send = async (sequenceNumber: number, event: Buffer): Promise<void> => {
    const streamId = { buildId: 'b', invocationId: 'large', component: 3 }
    const encoded = requests.encode({ projectId: 'main', orderedBuildEvent: { streamId, sequenceNumber, event } })
    if (!call.write(encoded)) await once(call, 'drain')
    // biome-ignore lint/plugin: a part of the two gigabytes that pass
    residentBytes = Math.max(residentBytes, process.memoryUsage.rss())
  }
  for (let number = 1; number <= COUNT; number++) await send(number, EVENT)
  await send(COUNT + 1, bazel({ finished: { exitCode: { code: 0, name: 'SUCCESS' } } }))
  await send(COUNT + 2, LAST)
  call.end()
  const [{ code, details }] = await ended
  t.equal(code, 0, details)
  t.equal(acknowledged, COUNT + 2)
  t.comment(`${COUNT} events of ${EVENT.length} bytes, at most ${Math.round(residentBytes / 2 ** 20)} MiB resident`)
  t.ok(residentBytes < 1.5 * 2 ** 30, `${residentBytes} bytes resident, with the client`)

  const key = keyOf('main', 'large')
  const { size } = await stat(join(path, key.slice(0, 2), `${key}.log`))
  t.comment(`${size} bytes on disk`)
  const { answer, text } = await get('/invocation/large')
  t.equal(answer.status, 200)
  const leftOut = COUNT - Math.floor(KEPT_BYTES / EVENT.length)
  t.match(textIn(text), `${leftOut} events were beyond the bound of an invocation, and are not kept`)
  t.match(textIn(text), 'those after the first 256 MiB are not shown')
  for (const tab of ['targets', 'tests', 'log', 'timing', 'cache', 'command'])
    t.equal((await get(`/invocation/large/${tab}`)).answer.status, 200, tab)
})
