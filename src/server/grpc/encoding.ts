import { promisify } from 'node:util'
import { gunzip, gzipSync, inflate } from 'node:zlib'
import { StatusError } from '../../base/status-error.js'

type Unpack = (bytes: Buffer, options: { maxOutputLength: number }) => Promise<Buffer>

/** Compressions of requests. */
export type Encoding = 'gzip' | 'deflate'

const unpackers: Readonly<Record<Encoding, Unpack>> = { gzip: promisify(gunzip), deflate: promisify(inflate) }

const isEncoding = (name: string | undefined): name is Encoding => name !== undefined && name in unpackers

/** Maximum ratio of DEFLATE: 258 bytes from a length and a distance of one bit each. */
export const MAX_RATIO = 1032

/** Shorter messages do not get smaller. */
const MIN_GZIP_BYTES = 256

/** Decompresses a message (gRPC over HTTP2, Message-Encoding). Stops when it exceeds `maxBytes`. */
export const unpacked = async (bytes: Buffer, encoding: string | undefined, maxBytes: number): Promise<Buffer> => {
  if (!isEncoding(encoding)) throw unnamedEncoding()
  try {
    return await unpackers[encoding](bytes, { maxOutputLength: maxBytes })
  } catch (cause) {
    if (cause instanceof RangeError) throw tooLarge(`more than ${maxBytes}`, maxBytes)
    throw new StatusError('INTERNAL', `a message is not compressed with ${encoding}, although its header says so`, {
      cause,
    })
  }
}

/** Throws UNIMPLEMENTED if messages of this encoding are not accepted. */
export const checkEncoding = (encoding: string | undefined, accepted: readonly Encoding[]): void => {
  if (encoding === undefined || encoding === 'identity') return
  if (isEncoding(encoding) && accepted.includes(encoding)) return
  const found = JSON.stringify(encoding.slice(0, 50))
  const expected = ['identity', ...accepted].join(' or ')
  throw new StatusError('UNIMPLEMENTED', `grpc-encoding ${found} is not supported, expected ${expected}`)
}

const unnamedEncoding = (): StatusError =>
  new StatusError('INTERNAL', 'a message is marked as compressed, but grpc-encoding is missing')

export const tooLarge = (size: number | string, maxBytes: number): StatusError =>
  new StatusError('RESOURCE_EXHAUSTED', `a message of ${size} bytes was sent, expected at most ${maxBytes}`)

/** The message in gzip; undefined if that is not smaller. */
export const gzipped = (bytes: Buffer): Buffer | undefined => {
  if (bytes.length < MIN_GZIP_BYTES) return undefined
  const packed = gzipSync(bytes, { level: 1 })
  return packed.length < bytes.length ? packed : undefined
}
