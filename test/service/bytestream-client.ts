import type { Compressor } from '../../src/reapi/compressor.js'
import type { Digest } from '../../src/reapi/digest.js'
import { formatReadName, formatWriteName } from '../../src/reapi/resource-name.js'
import { collect, type TestClient } from '../server/client.js'
import { type Blob, BYTE_STREAM } from './harness.js'

export interface WriteMessage {
  readonly resourceName?: string
  readonly writeOffset?: number
  readonly finishWrite?: boolean
  readonly data?: Buffer
}

/** A Write whose messages a test sends one by one. */
export const openWrite = (client: TestClient) => {
  const { call, response } = client.clientStream(`${BYTE_STREAM}/Write`)
  // Some tests await the response late, so an earlier rejection must not count as unhandled.
  response.catch(() => {})
  return {
    response: response as Promise<{ committedSize: number }>,
    /** Resolves once the message has been sent. */
    send: (message: WriteMessage): Promise<void> => new Promise((resolve) => call.write(message, () => resolve())),
    end: () => call.end(),
    cancel: () => call.cancel(),
  }
}

/** Sends the messages, half-closes, and waits for the answer. */
export const write = async (
  client: TestClient,
  messages: readonly WriteMessage[],
): Promise<{ committedSize: number }> => {
  const { send, end, response } = openWrite(client)
  for (const message of messages) void send(message)
  end()
  return response
}

/** The messages of a whole upload. */
export const messagesOf = (resourceName: string, bytes: Buffer, chunkBytes = 64 * 1024): WriteMessage[] => {
  const messages: WriteMessage[] = []
  for (let at = 0; at < bytes.length; at += chunkBytes) {
    const data = bytes.subarray(at, at + chunkBytes)
    messages.push({
      ...(at === 0 ? { resourceName } : {}),
      writeOffset: at,
      data,
      finishWrite: at + chunkBytes >= bytes.length,
    })
  }
  return messages.length > 0 ? messages : [{ resourceName, finishWrite: true }]
}

let uploads = 0

/** A new upload name with its own uuid. */
export const uploadName = (
  digest: Digest,
  { instanceName = '', compressor }: { instanceName?: string; compressor?: Compressor } = {},
): string => formatWriteName(instanceName, `upload-${uploads++}`, digest, compressor)

export const uploadWhole = (
  client: TestClient,
  { digest, bytes }: Blob,
  chunkBytes?: number,
): Promise<{ committedSize: number }> => write(client, messagesOf(uploadName(digest), bytes, chunkBytes))

/**
 * All bytes and chunks of a Read. Rejects with the error of the call; `messages` of the error has the messages before
 * it.
 */
export const read = async (
  client: TestClient,
  resourceName: string,
  request: { readOffset?: number; readLimit?: number } = {},
) => {
  const { messages, status } = await collect(client.serverStream(`${BYTE_STREAM}/Read`, { resourceName, ...request }))
  if (status !== undefined) throw Object.assign(status, { messages })
  const chunks: Buffer[] = messages.map(({ data }) => data)
  return { bytes: Buffer.concat(chunks), chunks }
}

export const readBlob = async (client: TestClient, digest: Digest, compressor?: Compressor): Promise<Buffer> =>
  (await read(client, formatReadName('', digest, compressor))).bytes

export const query = (
  client: TestClient,
  resourceName: string,
): Promise<{ committedSize: number; complete: boolean }> =>
  client.unary(`${BYTE_STREAM}/QueryWriteStatus`, { resourceName }).response
