import { LARGE_BYTES, type LentBuffer, lendBuffer } from '../../base/lent-buffers.js'
import type { Call } from '../../rpc/call.js'
import type { Responses } from '../../rpc/rpc.js'
import type { BlobFile } from '../../stream/blob/file.js'

/** The destination of a blob, and the maximum size of its messages. */
export interface Sending {
  readonly responses: Responses
  readonly maxChunkBytes: number
  readonly call: Call
}

/**
 * Sends a file, closes it and returns the number of bytes. Reads the next part once the client has room for it, while
 * the part before is still being sent. Messages lie in the read buffer; their bytes are not copied.
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

/** Releases the buffer after all messages that lie in it have been sent, in any order. */
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
