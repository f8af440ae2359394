import type { Output } from '../../../proto/codec.js'
import type { Call } from '../../../rpc/call.js'
import type { Part } from '../../remote/remote-source.js'
import { METHODS, type RemoteServer } from './remote-server.js'

type ReadResponse = Output<'google.bytestream.ReadResponse'>

export interface ReadOptions {
  readonly name: string
  /** Of the blob itself, whatever it is encoded as. */
  readonly offset: number
  /** 0 is all there is. */
  readonly limit: number
  /** Where the bytes that come end; undefined where they are encoded. */
  readonly end: number | undefined
}

/** Opens a ByteStream.Read. Rejects before there are bytes with what the server says; NOT_FOUND above all. */
export const openRead = async (server: RemoteServer, options: ReadOptions, call: Call): Promise<Part> => {
  // A limit of 0 would be none.
  if (options.offset === options.end && options.offset > 0) return { end: options.end, chunks: nothing() }
  const request = { resourceName: options.name, readOffset: options.offset, readLimit: options.limit }
  const stream = await server.serverStream(METHODS.read, request, call)
  const messages = stream[Symbol.asyncIterator]() as AsyncIterator<ReadResponse>
  // Only the first message tells that the server has the blob.
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
