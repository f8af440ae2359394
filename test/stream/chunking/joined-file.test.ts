import { Readable } from 'node:stream'
import t from 'tap'
import { Blob } from '../../../src/stream/blob/blob.js'
import { joinParts } from '../../../src/stream/chunking/joined-file.js'

const PART_BYTES = 100

/** Gives half of a part, then nothing, and needs some turns to close. */
const slowToClose = (): Readable => {
  const source = new Readable({
    read() {},
    destroy(error, callback) {
      setImmediate(() => setImmediate(() => callback(error)))
    },
  })
  source.push(Buffer.alloc(PART_BYTES / 2))
  return source
}

t.test('when a joined blob has been closed, the streams of its parts have been too', async (t) => {
  const sources = [slowToClose(), slowToClose()]
  const parts = sources.map((source) => ({
    sizeBytes: PART_BYTES,
    open: async () => Blob.ofPath([source], { sizeBytes: PART_BYTES }),
  }))
  const { signal } = new AbortController()
  const form = await (await joinParts(parts, { aheadCount: 1, signal })).take()
  if (form.kind !== 'file') return t.fail(form.kind)
  const into = Buffer.alloc(PART_BYTES)
  t.equal(await form.file.read(into, 0), PART_BYTES / 2)
  await form.file.close()
  t.same(
    sources.map(({ closed }) => closed),
    [true, true],
  )
})
