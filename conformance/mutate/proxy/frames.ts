import type { Readable, Writable } from 'node:stream'

/** One message as it is on the wire: the flag that says whether it is compressed, and its bytes. */
export interface Framed {
  readonly isCompressed: boolean
  readonly bytes: Buffer
}

const HEAD_BYTES = 5

export const framed = ({ isCompressed, bytes }: Framed): Buffer => {
  const head = Buffer.alloc(HEAD_BYTES)
  head.writeUInt8(isCompressed ? 1 : 0)
  head.writeUInt32BE(bytes.length, 1)
  return Buffer.concat([head, bytes])
}

/**
 * The messages of a gRPC stream, one at a time, no faster than they are consumed. Ends with the stream; throws if it
 * breaks. An early exit leaves the stream open.
 */
export async function* messagesOf(stream: Readable): AsyncGenerator<Framed> {
  let waiting: Buffer[] = []
  let waitingBytes = 0
  let wantedBytes = HEAD_BYTES
  for await (const chunk of stream.iterator({ destroyOnReturn: false })) {
    waiting.push(chunk as Buffer)
    waitingBytes += (chunk as Buffer).length
    if (waitingBytes < wantedBytes) continue
    let bytes = Buffer.concat(waiting)
    wantedBytes = HEAD_BYTES
    while (bytes.length >= HEAD_BYTES) {
      wantedBytes = HEAD_BYTES + bytes.readUInt32BE(1)
      if (bytes.length < wantedBytes) break
      yield { isCompressed: bytes.readUInt8() !== 0, bytes: bytes.subarray(HEAD_BYTES, wantedBytes) }
      bytes = bytes.subarray(wantedBytes)
      wantedBytes = HEAD_BYTES
    }
    waiting = [bytes]
    waitingBytes = bytes.length
  }
}

/** Resolves when there is room for more, or nothing more can be written. */
export const writeFrame = (stream: Writable, message: Framed): Promise<void> => {
  if (stream.destroyed || stream.writableEnded || stream.write(framed(message))) return Promise.resolve()
  return new Promise((resolve) => {
    const done = (): void => {
      stream.off('drain', done).off('close', done)
      resolve()
    }
    stream.on('drain', done).on('close', done)
  })
}
