import { crc32 } from 'node:zlib'
import t from 'tap'
import { crc32Combine } from '../../src/base/crc32-combine.js'
import { bytesOf } from '../store/blobs.js'

t.test('the CRC of two pieces is that of all bytes', async (t) => {
  const bytes = bytesOf(70_000)
  for (const at of [0, 1, 2, 255, 4096, 65_536, 69_999, 70_000]) {
    const [first, second] = [bytes.subarray(0, at), bytes.subarray(at)]
    t.equal(crc32Combine(crc32(first), crc32(second), second.length), crc32(bytes), String(at))
  }
})
