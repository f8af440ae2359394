import { createHash } from 'node:crypto'
import t from 'tap'
import { freshBlob } from '../../bench/cases/sizes.js'

const MIB = 1 << 20
const PIECE_BYTES = 16 * 1024

const piecesOf = (blob: Buffer): string[] =>
  Array.from({ length: Math.floor(blob.length / PIECE_BYTES) }, (_, at) =>
    createHash('sha256')
      .update(blob.subarray(at * PIECE_BYTES, (at + 1) * PIECE_BYTES))
      .digest('hex'),
  )

t.test('a new blob of the bench is new throughout: a store of chunks finds none of it', async (t) => {
  for (const isText of [false, true]) {
    for (const sizeBytes of [MIB, 4 * MIB, 4 * MIB + 5000]) {
      const blobs = [freshBlob(sizeBytes, isText), freshBlob(sizeBytes, isText)]
      t.same(
        blobs.map(({ length }) => length),
        [sizeBytes, sizeBytes],
      )
      const pieces = blobs.flatMap(piecesOf)
      t.equal(new Set(pieces).size, pieces.length, `${isText ? 'text' : 'noise'} of ${sizeBytes} bytes`)
    }
  }
})
