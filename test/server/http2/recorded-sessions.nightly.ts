import { crc32 } from 'node:zlib'
import t from 'tap'
import type { ReportDocument } from '../../../conformance/report/document.js'
import { readSessions } from '../../../conformance/session/session.js'
import { PREFACE } from '../../../src/server/http2/frame/frame.js'
import { FrameReader } from '../../../src/server/http2/frame/reader.js'
import { conformance } from '../../conformance/program.js'
import { startServer } from '../../conformance/server.js'
import { framesIn, wiretap } from '../wiretap.js'
import { SETTINGS } from './raw-client.js'

// For changes in: src/server/http2, fixtures/sessions

function* bytewise(bytes: Buffer): Generator<Buffer> {
  for (let at = 0; at < bytes.length; at++) yield bytes.subarray(at, at + 1)
}

/** The events of a reader for these chunks, as text. The data of a frame is shown by its length and checksum. */
const eventsOf = (chunks: Iterable<Buffer>): string => {
  const events: unknown[] = []
  let [length, checksum] = [0, 0]
  const reader = new FrameReader({
    frame: (type, flags, streamId, payload) => events.push(type, flags, streamId, payload.length, crc32(payload)),
    dataBegins: (streamId, lengthBytes) => {
      length = 0
      checksum = 0
      events.push(streamId, lengthBytes)
    },
    data: (bytes) => {
      length += bytes.length
      checksum = crc32(bytes, checksum)
    },
    dataEnds: (isEnd) => events.push(length, checksum, isEnd),
  })
  for (const chunk of chunks) reader.read(chunk)
  return [...events, reader.isAtBoundary].join(' ')
}

t.setTimeout(300_000)

t.test('frames of recorded sessions are the same for every split of the input', async (t) => {
  // The input is what a client of grpc-js sends when it replays the session against a server that answers.
  const address = await startServer(t)
  const { port, sent } = await wiretap(t, Number(address.split(':').at(-1)))
  const { stdout } = await conformance(`grpc://127.0.0.1:${port}`, ...['--only', 'SES', '--quiet', '--format', 'json'])
  const { results } = JSON.parse(stdout) as ReportDocument
  const replayed = results.filter(({ verdict }) => verdict === 'pass')
  t.equal(replayed.length, readSessions().length, 'every session')
  const connections = sent()
  for (const [index, bytes] of connections.entries()) {
    t.ok(eventsOf(bytewise(bytes)) === eventsOf([bytes]), `connection ${index}, byte for byte`)
  }
  // Between two frames a reader has no state, so a split only affects the frame it is in and the next one. The payload
  // has no effect either, so one frame of each type and length is enough.
  const frames = connections.flatMap(framesIn)
  const kinds = new Map(frames.map((one) => [[one[3], one[4], one.length].join(' '), one]))
  t.comment(`${connections.length} connections, ${frames.length} frames of ${kinds.size} kinds and lengths`)
  for (const [kind, one] of kinds) {
    const whole = Buffer.concat([PREFACE, one, SETTINGS])
    const wanted = eventsOf([whole])
    for (let cut = 0; cut <= whole.length; cut++) {
      if (eventsOf([whole.subarray(0, cut), whole.subarray(cut)]) !== wanted) t.fail(`${kind}, cut at ${cut}`)
    }
  }
})
