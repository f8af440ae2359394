import t from 'tap'
import { CompressContext, CompressParameter, compressBound } from '../../src/stream/compression/libzstd.js'
import { MAX_FRAME_HEADER_BYTES, parseZstdFrame } from '../../src/stream/compression/zstd-frame.js'

const frame = (sizeBytes: number, ...parameters: [number, number][]): Buffer => {
  const context = new CompressContext()
  for (const [parameter, value] of parameters) context.setParameter(parameter, value)
  const out = Buffer.alloc(compressBound(sizeBytes))
  return out.subarray(0, context.compress(out, Buffer.alloc(sizeBytes, 'text ')))
}

t.test('the header of a frame gives its content and window, in every form of the size', (t) => {
  for (const sizeBytes of [0, 1, 255, 256, 300, 65_791, 65_792, 3_000_000]) {
    const header = frame(sizeBytes).subarray(0, MAX_FRAME_HEADER_BYTES)
    t.match(parseZstdFrame(header), { kind: 'content', contentBytes: sizeBytes }, `${sizeBytes}`)
  }
  const windowed = parseZstdFrame(frame(3_000_000, [CompressParameter.windowLog, 20]))
  t.same(windowed, { kind: 'content', windowBytes: 2 ** 20, contentBytes: 3_000_000 })
  const sizeless = [CompressParameter.contentSizeFlag, 0] as [number, number]
  t.match(parseZstdFrame(frame(3_000_000, sizeless)), { kind: 'content', contentBytes: undefined })
  t.same(
    parseZstdFrame(frame(300)),
    { kind: 'content', windowBytes: 300, contentBytes: 300 },
    'its content is its window',
  )
  const odd = Buffer.from([0x28, 0xb5, 0x2f, 0xfd, 0x00, (10 << 3) | 3])
  t.match(parseZstdFrame(odd), { windowBytes: 2 ** 20 * (1 + 3 / 8) })
  t.end()
})

t.test('bytes without a frame, or with an incomplete header', (t) => {
  const whole = frame(3_000_000)
  for (let length = 0; length < 9; length++) t.equal(parseZstdFrame(whole.subarray(0, length)), undefined, `${length}`)
  t.equal(parseZstdFrame(Buffer.from('no frame at all')), undefined)
  t.same(parseZstdFrame(Buffer.from([0x5f, 0x2a, 0x4d, 0x18, 1])), { kind: 'skippable' })
  t.end()
})
