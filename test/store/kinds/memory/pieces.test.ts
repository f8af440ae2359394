import t from 'tap'
import { readPieces } from '../../../../src/store/kinds/memory/pieces.js'

const pieces = ['abc', 'de', 'fgh'].map((text) => Buffer.from(text))

t.test('a range of the pieces of a blob is a stream of bytes', async (t) => {
  for (const [offset, end, expected] of [
    [0, 8, 'abcdefgh'],
    [2, 4, 'cd'],
    [3, 3, ''],
    [5, 8, 'fgh'],
  ] as const) {
    const stream = readPieces(pieces, offset, end)
    t.equal(stream.readableObjectMode, false)
    t.equal(Buffer.concat(await stream.toArray()).toString(), expected)
  }
})
