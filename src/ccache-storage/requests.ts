import { endianness } from 'node:os'
import { StatusError } from '../base/status-error.js'

/** A request of ccache to its storage helper (version 1 of the protocol, ccache 4.13). Keys are in lower-case hex. */
export type StorageRequest = KeyedRequest | { readonly kind: 'stop' | 'info' }

export type KeyedRequest =
  | { readonly kind: 'get' | 'remove' | 'exists'; readonly key: string }
  | {
      readonly kind: 'put'
      readonly key: string
      /** Whether a value that is there is replaced. */
      readonly overwrites: boolean
      readonly sizeBytes: number
      /** What of it is not read before the next request is skipped. */
      readonly value: AsyncIterable<Buffer>
    }

const KINDS = ['get', 'put', 'remove', 'stop', 'info', 'exists'] as const
const OVERWRITE = 1
const LENGTH_BYTES = 8

/** The requests in a stream. Values are passed on as they come. INVALID_ARGUMENT for anything else. */
export async function* storageRequests(source: AsyncIterable<Buffer>): AsyncGenerator<StorageRequest> {
  const bytes = new Bytes(source)
  while (!(await bytes.isOver())) {
    const code = await bytes.byte()
    const kind = KINDS[code]
    if (kind === undefined) throw new StatusError('INVALID_ARGUMENT', `there is no request ${code}`)
    if (kind === 'stop' || kind === 'info') {
      yield { kind }
      continue
    }
    const key = (await bytes.exactly(await bytes.byte())).toString('hex')
    if (kind !== 'put') {
      yield { kind, key }
      continue
    }
    const overwrites = ((await bytes.byte()) & OVERWRITE) !== 0
    const sizeBytes = lengthIn(await bytes.exactly(LENGTH_BYTES))
    let left = sizeBytes
    const value = async function* (): AsyncGenerator<Buffer> {
      while (left > 0) {
        const piece = await bytes.atMost(left)
        left -= piece.length
        yield piece
      }
    }
    yield { kind, key, overwrites, sizeBytes, value: value() }
    while (left > 0) left -= (await bytes.atMost(left)).length
  }
}

/** Lengths are in the byte order of the machine. */
const isLittle = endianness() === 'LE'

const lengthIn = (bytes: Buffer): number => {
  const length = Number(isLittle ? bytes.readBigUInt64LE() : bytes.readBigUInt64BE())
  if (Number.isSafeInteger(length)) return length
  throw new StatusError('INVALID_ARGUMENT', `a value has ${length} bytes, expected less than 2^53`)
}

export const lengthOf = (length: number): Buffer => {
  const bytes = Buffer.alloc(LENGTH_BYTES)
  if (isLittle) bytes.writeBigUInt64LE(BigInt(length))
  else bytes.writeBigUInt64BE(BigInt(length))
  return bytes
}

/** A stream of bytes that is read piece by piece. */
class Bytes {
  readonly #chunks: AsyncIterator<Buffer>
  #rest: Buffer = Buffer.alloc(0)

  constructor(source: AsyncIterable<Buffer>) {
    this.#chunks = source[Symbol.asyncIterator]()
  }

  async isOver(): Promise<boolean> {
    while (this.#rest.length === 0) {
      const { done, value } = await this.#chunks.next()
      if (done === true) return true
      this.#rest = value
    }
    return false
  }

  /** One to `count` bytes. */
  async atMost(count: number): Promise<Buffer> {
    if (await this.isOver()) throw new StatusError('INVALID_ARGUMENT', 'the input ends inside a request')
    const piece = this.#rest.subarray(0, count)
    this.#rest = this.#rest.subarray(piece.length)
    return piece
  }

  async exactly(count: number): Promise<Buffer> {
    const pieces: Buffer[] = []
    for (let left = count; left > 0; ) {
      const piece = await this.atMost(left)
      pieces.push(piece)
      left -= piece.length
    }
    return pieces.length === 1 ? (pieces[0] as Buffer) : Buffer.concat(pieces)
  }

  async byte(): Promise<number> {
    return (await this.atMost(1))[0] as number
  }
}
