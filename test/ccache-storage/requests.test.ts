import fc from 'fast-check'
import t from 'tap'
import { lengthOf, storageRequests } from '../../src/ccache-storage/requests.js'

async function* cut(bytes: Buffer, sizes: readonly number[]): AsyncGenerator<Buffer> {
  for (let at = 0, next = 0; at < bytes.length; next++) {
    const size = sizes[next % sizes.length] ?? 1
    yield bytes.subarray(at, at + size)
    at += size
  }
}

const KINDS = ['get', 'put', 'remove', 'stop', 'info', 'exists'] as const

interface Sent {
  readonly kind: (typeof KINDS)[number]
  readonly key: Uint8Array
  readonly flags: number
  readonly value: Uint8Array
  /** How much of the value the helper reads. */
  readonly readBytes: number
}

const written = ({ kind, key, flags, value }: Sent): Buffer => {
  const head = Buffer.from([KINDS.indexOf(kind)])
  if (kind === 'stop' || kind === 'info') return head
  const named = Buffer.concat([head, Buffer.from([key.length]), key])
  return kind === 'put' ? Buffer.concat([named, Buffer.from([flags]), lengthOf(value.length), value]) : named
}

t.test('every request comes as it was sent, however the stream is cut, also if a value is not read', async (t) => {
  const request = fc.record({
    kind: fc.constantFrom(...KINDS),
    key: fc.uint8Array({ maxLength: 255 }),
    flags: fc.integer({ min: 0, max: 255 }),
    value: fc.uint8Array({ maxLength: 300 }),
    readBytes: fc.integer({ min: 0, max: 400 }),
  })
  const property = fc.asyncProperty(
    fc.array(request, { maxLength: 6 }),
    fc.array(fc.integer({ min: 1, max: 90 }), { minLength: 1, maxLength: 5 }),
    async (sent, sizes) => {
      let count = 0
      for await (const found of storageRequests(cut(Buffer.concat(sent.map(written)), sizes))) {
        const one = sent[count++] as Sent
        if (found.kind !== one.kind) return false
        if ('key' in found && found.key !== Buffer.from(one.key).toString('hex')) return false
        if (found.kind !== 'put') continue
        if (found.overwrites !== (one.flags % 2 === 1) || found.sizeBytes !== one.value.length) return false
        const pieces: Buffer[] = []
        let left = one.readBytes
        if (left === 0) continue
        for await (const piece of found.value) {
          pieces.push(piece)
          left -= piece.length
          if (left <= 0) break
        }
        const read = Buffer.concat(pieces)
        if (!read.equals(Buffer.from(one.value).subarray(0, read.length))) return false
        if (left > 0 && read.length !== one.value.length) return false
      }
      return count === sent.length
    },
  )
  await t.resolves(fc.assert(property, { numRuns: 200 }))
})

t.test('what is no request is refused: another code, an end inside a request, an impossible length', async (t) => {
  const read = async (...bytes: readonly number[]) => {
    for await (const request of storageRequests(cut(Buffer.from(bytes), [3]))) if (request.kind === 'put') continue
  }
  await t.rejects(read(9), { code: 3, message: 'there is no request 9' })
  await t.rejects(read(0, 3, 1, 2), { code: 3, message: 'the input ends inside a request' })
  const length = [...lengthOf(5)]
  await t.rejects(read(1, 1, 7, 0, ...length, 1, 2), { message: 'the input ends inside a request' })
  await t.rejects(read(1, 1, 7, 0, 255, 255, 255, 255, 255, 255, 255, 255), { message: /expected less than 2\^53/ })
  await t.resolves(read(), 'no request at all')
})
