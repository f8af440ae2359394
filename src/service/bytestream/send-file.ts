import type { Call } from '../../base/call.js'
import { LARGE_BYTES, type LentBuffer, lendBuffer } from '../../base/lent-buffers.js'
import type { Responses } from '../../base/rpc.js'
import type { BlobFile } from '../../stream/blob/file.js'

/** Where a blob is sent, in messages of at most so many bytes. */
export interface Sending {
  readonly responses: Responses
  readonly maxChunkBytes: number
  readonly call: Call
}

/**
 * Sends a file and closes it. Bytes are read when the client has room for them, and leave from where they were read to; the
 * next are read meanwhile. Answers how many there were.
 */
export const sendFile = async (file: BlobFile, sending: Sending): Promise<number> => {
  try {
    for (let at = 0; at < file.sizeBytes; ) {
      const roomBytes = await sending.responses.room()
      const buffer = lendBuffer(Math.min(roomBytes, LARGE_BYTES, file.sizeBytes - at))
      const readBytes = await file.read(buffer.bytes, at).catch((error: unknown) => {
        buffer.release()
        throw error
      })
      lendMessages(buffer, readBytes, sending)
      at += readBytes
    }
    return file.sizeBytes
  } finally {
    await file.close()
  }
}

/** The buffer goes back when the last of the messages that lie in it has left, in whatever order they do. */
const lendMessages = (buffer: LentBuffer, sizeBytes: number, { responses, maxChunkBytes }: Sending): void => {
  let left = Math.ceil(sizeBytes / maxChunkBytes)
  const sent = (): void => {
    left -= 1
    if (left === 0) buffer.release()
  }
  for (let at = 0; at < sizeBytes; at += maxChunkBytes) {
    responses.lend({ data: buffer.bytes.subarray(at, Math.min(sizeBytes, at + maxChunkBytes)) }, sent)
  }
}
