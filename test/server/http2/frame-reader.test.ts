import fc from 'fast-check'
import t from 'tap'
import { PREFACE } from '../../../src/server/http2/frame/frame.js'
import { FrameReader, type FrameSink } from '../../../src/server/http2/frame/reader.js'
import { frame } from './raw-client.js'

/** The events of a reader for these chunks, with the bytes of each DATA frame joined. */
const reading = (chunks: readonly Buffer[]): unknown[] => {
  const said: unknown[] = []
  let data = ''
  const sink: FrameSink = {
    frame: (type, flags, streamId, payload) => said.push([type, flags, streamId, payload.toString('hex')]),
    dataBegins: (streamId, lengthBytes) => {
      data = ''
      said.push(['data', streamId, lengthBytes])
    },
    data: (bytes) => {
      data += bytes.toString('hex')
    },
    dataEnds: (isEnd) => said.push([data, isEnd]),
  }
  const reader = new FrameReader(sink)
  // The buffer is reused, like that of a socket.
  const shared = Buffer.alloc(70_000)
  for (const chunk of chunks) {
    shared.fill(0xee)
    chunk.copy(shared)
    reader.read(shared.subarray(0, chunk.length))
  }
  said.push(reader.isAtBoundary)
  return said
}

const sample = Buffer.concat([
  PREFACE,
  frame(4, 0, 0, Buffer.alloc(6)),
  frame(0, 0, 1, Buffer.from('hello')),
  frame(0, 8 | 1, 1, Buffer.from('\x03worldpad', 'latin1')),
  frame(0, 8, 3, Buffer.from('\x00', 'latin1')),
  frame(0, 1, 3),
  frame(6, 1, 0, Buffer.alloc(8, 7)),
  frame(99, 0xff, 5, Buffer.alloc(300, 9)),
])

t.test('frames are the same for every split of the input', async (t) => {
  const whole = reading([sample])
  t.match(whole, [
    [4, 0, 0, '000000000000'],
    ['data', 1, 5],
    [Buffer.from('hello').toString('hex'), false],
    ['data', 1, 9],
    [Buffer.from('world').toString('hex'), true],
    ['data', 3, 1],
    ['', false],
    ['data', 3, 0],
    ['', true],
    [6, 1, 0, '0707070707070707'],
    [99, 0xff, 5, '09'.repeat(300)],
    true,
  ])
  for (let first = 0; first <= sample.length; first++) {
    for (const second of [first, first + 1, first + 9, sample.length]) {
      const chunks = [sample.subarray(0, first), sample.subarray(first, second), sample.subarray(second)]
      if (JSON.stringify(reading(chunks)) !== JSON.stringify(whole)) t.fail(`split at ${first} and ${second}`)
    }
  }
  const bytes = Array.from({ length: sample.length }, (_, at) => sample.subarray(at, at + 1))
  t.same(reading(bytes), whole, 'byte for byte')
})

t.test('frames of any kind and size are the same for any splits', async (t) => {
  const frames = fc.array(
    fc.tuple(fc.integer({ min: 0, max: 12 }), fc.nat(255), fc.nat(2 ** 31 - 1), fc.uint8Array({ maxLength: 600 })),
    { maxLength: 20 },
  )
  const cuts = fc.array(fc.nat(8000), { maxLength: 20 })
  fc.assert(
    fc.property(frames, cuts, (made, at) => {
      const bytes = Buffer.concat([
        PREFACE,
        ...made.map(([type, flags, id, payload]) => frame(type, flags, id, payload)),
      ])
      const ends = [...at.filter((cut) => cut < bytes.length), bytes.length].sort((a, b) => a - b)
      const chunks = ends.map((end, index) => bytes.subarray(ends[index - 1] ?? 0, end))
      const outcome = (parts: readonly Buffer[]): string => {
        try {
          return JSON.stringify(reading(parts))
        } catch (error) {
          return String(error)
        }
      }
      return outcome(chunks) === outcome([bytes])
    }),
    { numRuns: 500 },
  )
  t.pass()
})

t.test('invalid frames', async (t) => {
  t.throws(() => reading([Buffer.from('GET / HTTP/1.1\r\n')]), { code: 'PROTOCOL_ERROR' })
  const long = Buffer.from('004001000000000001', 'hex')
  t.throws(() => reading([PREFACE, long]), { code: 'FRAME_SIZE_ERROR', message: /16385 bytes/ })
  t.throws(() => reading([PREFACE, frame(0, 8, 1)]), { code: 'FRAME_SIZE_ERROR' })
  t.throws(() => reading([PREFACE, frame(0, 8, 1, Buffer.from('\x02a'))]), { code: 'PROTOCOL_ERROR' })
})
