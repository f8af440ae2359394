import t from 'tap'
import { zstdCompress, zstdDecompress } from '../../src/stream/compression/zstd.js'
import { drawnBytes } from '../drawn.js'

t.test('a frame keeps its bytes when the next blob is compressed', async (t) => {
  for (const sizeBytes of [1, 70_000, 256 * 1024, 256 * 1024 + 1]) {
    const [first, second] = [drawnBytes(sizeBytes), drawnBytes(sizeBytes)]
    const frame = zstdCompress(first)
    zstdCompress(second)
    t.ok(zstdDecompress(frame, sizeBytes)?.equals(first), `${sizeBytes} bytes, which do not compress`)
  }
})
