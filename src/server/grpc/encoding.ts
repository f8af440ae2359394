import { promisify } from 'node:util'
import { gunzip, gzipSync, inflate } from 'node:zlib'
import { StatusError } from '../../base/status-error.js'

type Unpack = (bytes: Buffer, options: { maxOutputLength: number }) => Promise<Buffer>

const unpackers: Readonly<Record<string, Unpack>> = { gzip: promisify(gunzip), deflate: promisify(inflate) }

/** Shorter messages do not get smaller. */
const MIN_GZIP_BYTES = 256

/** A message as its sender had it before `encoding` (gRPC over HTTP2, Message-Encoding), measured while it is unpacked. */
export const unpacked = async (bytes: Buffer, encoding: string | undefined, maxBytes: number): Promise<Buffer> => {
  const unpack = unpackers[encoding ?? '']
  if (unpack === undefined) throw unknownEncoding(encoding)
  try {
    return await unpack(bytes, { maxOutputLength: maxBytes })
  } catch (cause) {
    if (cause instanceof RangeError) throw tooLarge(`more than ${maxBytes}`, maxBytes)
    throw new StatusError('INTERNAL', `a message is not compressed with ${encoding}, as its head says`, { cause })
  }
}

/** Throws UNIMPLEMENTED where messages of this encoding cannot be taken. */
export const checkEncoding = (encoding: string | undefined): void => {
  if (encoding !== undefined && encoding !== 'identity' && !(encoding in unpackers)) throw unknownEncoding(encoding)
}

const unknownEncoding = (encoding: string | undefined): StatusError =>
  encoding === undefined || encoding === 'identity'
    ? new StatusError('INTERNAL', 'a message is marked as compressed, but no grpc-encoding says how')
    : new StatusError(
        'UNIMPLEMENTED',
        `grpc-encoding ${JSON.stringify(encoding.slice(0, 50))} is not known, expected identity, deflate or gzip`,
      )

export const tooLarge = (size: number | string, maxBytes: number): StatusError =>
  new StatusError('RESOURCE_EXHAUSTED', `a message of ${size} bytes was sent, expected at most ${maxBytes}`)

/** The message in gzip, undefined where that would not make it smaller. */
export const gzipped = (bytes: Buffer): Buffer | undefined => {
  if (bytes.length < MIN_GZIP_BYTES) return undefined
  const packed = gzipSync(bytes, { level: 1 })
  return packed.length < bytes.length ? packed : undefined
}
