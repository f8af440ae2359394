import type { Output } from '../../../proto/codec.js'
import type { Call } from '../../../rpc/call.js'
import type { Part } from '../../remote/remote-source.js'
import { METHODS, type RemoteServer } from './remote-server.js'

type ReadResponse = Output<'google.bytestream.ReadResponse'>

export interface ReadOptions {
  readonly name: string
  /** Position in the plain blob, whatever the encoding. */
  readonly offset: number
  /** 0 means no limit. */
  readonly limit: number
  /** The expected end of the bytes; undefined if they are encoded. */
  readonly end: number | undefined
}

/** Opens a ByteStream.Read. Rejects before it returns bytes if the server fails, mostly with NOT_FOUND. */
export const openRead = async (server: RemoteServer, options: ReadOptions, call: Call): Promise<Part> => {
  // An empty range would need a limit of 0, which means no limit.
  if (options.offset === options.end && options.offset > 0) return { end: options.end, chunks: nothing() }
  const request = { resourceName: options.name, readOffset: options.offset, readLimit: options.limit }
  const stream = await server.serverStream(METHODS.read, request, call)
  const messages = stream[Symbol.asyncIterator]() as AsyncIterator<ReadResponse>
  // Only the first message shows that the server has the blob.
  const first = await messages.next()
  return { end: options.end, chunks: bytesOf(first, messages) }
}

async function* nothing(): AsyncGenerator<Buffer> {}

async function* bytesOf(
  first: IteratorResult<ReadResponse>,
  rest: AsyncIterator<ReadResponse>,
): AsyncGenerator<Buffer> {
  try {
    for (let next = first; next.done !== true; next = await rest.next()) yield next.value.data
  } finally {
    await rest.return?.()
  }
}
