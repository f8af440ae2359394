import t from 'tap'
import { Blob } from '../../src/stream/blob/blob.js'
import { pour } from '../../src/stream/blob/pour.js'
import { PushedFeed } from '../../src/stream/blob/pushed-feed.js'
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

const { signal } = new AbortController()

/** Decodes frames that come in chunks, as a feed or as streams. */
const decoded = async (frames: Buffer, chunkBytes: number, maxBytes: number, isFeed: boolean) => {
  const feed = new PushedFeed()
  const blob = Blob.ofFeed(feed, { encoding: 'ZSTD' })
  const plain = (isFeed ? blob : blob.onFailure(() => {})).as('IDENTITY', undefined, maxBytes)
  let foundBytes = 0
  const form = await plain.take()
  const take = ({ length }: Buffer): undefined => {
    foundBytes += length
  }
  const poured = pour(form, take, signal).then(
    () => undefined,
    (error: { readonly message: string }) => {
      feed.discard()
      return error.message
    },
  )
  let isOver = false
  void poured.then(() => {
    isOver = true
  })
  for (let at = 0; at < frames.length && !isOver; at += chunkBytes)
    await Promise.race([feed.push(frames.subarray(at, at + chunkBytes)), poured])
  feed.finish()
  return { failure: await poured, foundBytes }
}

t.test('a frame that announces more content than the blob has is refused before it is decoded', async (t) => {
  const frame = zstdCompress(Buffer.alloc(1_000_000, 'text'))
  const small = zstdCompress(Buffer.alloc(1000))
  for (const isFeed of [true, false])
    for (const chunkBytes of [1, 7, 100_000]) {
      const how = `${chunkBytes} at a time, ${isFeed ? 'a feed' : 'streams'}`
      t.same(
        await decoded(frame, chunkBytes, 999_999, isFeed),
        {
          failure: 'a zstd frame announces 1000000 bytes of content, expected at most 999999 in all frames',
          foundBytes: 0,
        },
        how,
      )
      t.same(await decoded(frame, chunkBytes, 1_000_000, isFeed), { failure: undefined, foundBytes: 1_000_000 }, how)
      const both = Buffer.concat([small, Buffer.from('502a4d1803000000616263', 'hex'), frame])
      t.same(await decoded(both, chunkBytes, 1_001_000, isFeed), { failure: undefined, foundBytes: 1_001_000 }, how)
      const { failure, foundBytes } = await decoded(both, chunkBytes, 1_000_999, isFeed)
      t.match(failure, /announces 1000000 bytes/, how)
      t.ok(foundBytes <= 1000, 'nothing of the second frame')
      t.match((await decoded(Buffer.from('no zstd, is it'), chunkBytes, 10, isFeed)).failure, /not valid zstd/)
      t.match((await decoded(frame.subarray(0, 8), chunkBytes, 1_000_000, isFeed)).failure, /end inside a frame/)
    }
})
