import { LARGE_BYTES, lendBuffer } from '../../base/lent-buffers.js'
import type { Blob } from '../../stream/blob/blob.js'
import type { BlobFile } from '../../stream/blob/file.js'
import { pour } from '../../stream/blob/pour.js'

/** Writes bytes to the client. They must not change until the promise resolves: once they have left. */
export type WriteBytes = (bytes: Buffer) => Promise<void>

/** Sends a blob as fast as the client reads, and returns its length. Rejects if the blob fails or the client goes. */
export const sendBody = async (blob: Blob, write: WriteBytes, signal: AbortSignal): Promise<number> => {
  const form = await blob.take()
  if (form.kind === 'file') return sendFile(form.file, write)
  let sentBytes = 0
  const take = (bytes: Buffer): Promise<void> => {
    sentBytes += bytes.length
    return write(bytes)
  }
  await pour(form, take, signal)
  return sentBytes
}

/** Reads the next part while the part before is being sent. */
const sendFile = async (file: BlobFile, write: WriteBytes): Promise<number> => {
  let sending: Promise<void> = Promise.resolve()
  try {
    for (let at = 0; at < file.sizeBytes; ) {
      const buffer = lendBuffer(Math.min(LARGE_BYTES, file.sizeBytes - at))
      const readBytes = await file.read(buffer.bytes, at)
      await sending
      at += readBytes
      sending = write(buffer.bytes.subarray(0, readBytes)).then(() => buffer.release())
      // Awaited in the next round; a failure in between must not be unhandled.
      sending.catch(() => {})
    }
    await sending
    return file.sizeBytes
  } finally {
    await file.close()
  }
}
