import { crc32 } from 'node:zlib'
import t from 'tap'
import { headerBlock } from '../../../bench/load/frames.js'
import { trafficOf } from '../../../bench/session-traffic.js'
import { readSessions, type Session } from '../../../conformance/session/session.js'
import { FrameType, HEAD_BYTES, PREFACE } from '../../../src/server/http2/frame/frame.js'
import { FrameReader } from '../../../src/server/http2/frame/reader.js'
import { frame, SETTINGS, SETTINGS_ACK } from './raw-client.js'

const END_HEADERS = 4

/** Their calls cannot be told beforehand: blobs that only a worker makes, and calls that a client breaks off. */
const untold = new Set(['SES-bazel-4.2-cpp', 'SES-bazel-4.2-minimal-download', 'SES-reclient', 'SES-siso'])

/** All that a client of a recorded session sends on one connection. */
const sentIn = (session: Session): Buffer =>
  Buffer.concat([
    ...[PREFACE, SETTINGS, SETTINGS_ACK],
    ...trafficOf(session, { instanceName: '' }).calls.flatMap(({ prepared: { request, frames } }, index) => {
      const id = 2 * index + 1
      const data = Buffer.from(frames)
      for (const at of framesAt(data, 0)) data.writeUInt32BE(id, at + 5)
      return [frame(FrameType.HEADERS, END_HEADERS, id, headerBlock('127.0.0.1', request)), data]
    }),
  ])

function* framesAt(bytes: Buffer, start: number): Generator<number> {
  for (let at = start; at < bytes.length; at += HEAD_BYTES + bytes.readUIntBE(at, 3)) yield at
}

function* bytewise(bytes: Buffer): Generator<Buffer> {
  for (let at = 0; at < bytes.length; at++) yield bytes.subarray(at, at + 1)
}

/** What a reader tells of chunks, as text: data of a frame by its length and checksum, however it came. */
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

t.test('frames of recorded sessions are the same wherever what comes is cut', { timeout: 120_000 }, async (t) => {
  const sessions = readSessions().filter(({ id }) => !untold.has(id))
  t.ok(sessions.length >= 15, `${sessions.length} sessions`)
  const connections = sessions.map(sentIn)
  for (const [index, bytes] of connections.entries()) {
    t.ok(eventsOf(bytewise(bytes)) === eventsOf([bytes]), `${sessions[index]?.id}, byte for byte`)
  }
  // Between two frames a reader knows nothing of those before: a cut matters for the frame it is in and the one behind.
  // What a frame carries is nothing to it either: of those of one kind and length one is enough.
  const frames = connections.flatMap((bytes) =>
    [...framesAt(bytes, PREFACE.length)].map((at) => bytes.subarray(at, at + HEAD_BYTES + bytes.readUIntBE(at, 3))),
  )
  const kinds = new Map(frames.map((one) => [[one[3], one[4], one.length].join(' '), one]))
  t.comment(`${frames.length} frames of ${kinds.size} kinds and lengths`)
  for (const [kind, one] of kinds) {
    const whole = Buffer.concat([PREFACE, one, SETTINGS])
    const wanted = eventsOf([whole])
    for (let cut = 0; cut <= whole.length; cut++) {
      if (eventsOf([whole.subarray(0, cut), whole.subarray(cut)]) !== wanted) t.fail(`${kind}, cut at ${cut}`)
    }
  }
})
