import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { Readable } from 'node:stream'
import t from 'tap'
import { FilePart } from '../../../src/store/kinds/filesystem/files/file-part.js'
import { OpenFile } from '../../../src/store/kinds/filesystem/files/open-file.js'
import { Blob } from '../../../src/stream/blob/blob.js'
import { joinParts } from '../../../src/stream/chunking/joined-file.js'
import { bytesOf } from '../../store/blobs.js'

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

t.test('bytes that were read can be read again, as an upload does it after a lost connection', async (t) => {
  const folder = t.testdir()
  const pieces = [0, 1, 2, 3, 4, 5].map((number) => bytesOf(PART_BYTES + number, `part ${number}`))
  const whole = Buffer.concat(pieces)
  const parts = pieces.map((bytes, number) => ({
    sizeBytes: bytes.length,
    open: async () => {
      if (number % 3 === 0) return Blob.ofBytes(bytes)
      if (number % 3 === 1) return Blob.ofPath([Readable.from([bytes.subarray(0, 30), bytes.subarray(30)])])
      const path = join(folder, `${number}`)
      writeFileSync(path, bytes)
      const file = await OpenFile.open(path, `part ${number}`)
      if (file === undefined) throw new Error('it was written')
      const range = { key: `part ${number}`, offset: 0, end: bytes.length, bufferBytes: 64 }
      return Blob.ofFile(new FilePart({ ...range, file, onTorn: () => {} }))
    },
  }))
  const { signal } = new AbortController()
  const form = await (await joinParts(parts, { aheadCount: 2, signal })).take()
  if (form.kind !== 'file') return t.fail(form.kind)
  const { file } = form
  // Forth by steps of 37 bytes; back into each kind of part, to its begin and to the begin of all.
  for (const from of [0, 320, 150, 205, 99, 0, whole.length, 410]) {
    const found: Buffer[] = []
    for (let at = from; at < whole.length && at < from + 300; ) {
      const into = Buffer.alloc(37)
      const count = await file.read(into, at)
      found.push(into.subarray(0, count))
      at += count
    }
    const expected = whole.subarray(from, from + Buffer.concat(found).length)
    t.ok(Buffer.concat(found).equals(expected) && (found.length > 0 || from === whole.length), `from ${from}`)
  }
  await file.close()
})
