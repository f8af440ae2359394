import type { ServerHttp2Stream } from 'node:http2'
import { Metadata, type ServerInterceptingCallInterface } from '@grpc/grpc-js'
import type { Encoded } from '../proto/codec.js'
import { http2StreamOf } from './http2-stream.js'

/** Below this a copy into one frame costs less than another buffer for the kernel to gather. */
const COPIED_BYTES = 8 * 1024

/** The length of gRPC's own head of a message: a flag for compression, four bytes of length. */
const PREFIX_BYTES = 5

/**
 * Sends the response messages of one call. What `grpc-js` sends it copies into a fresh frame; a message in parts is
 * written to the HTTP/2 stream below it from where the parts lie. Measured with bare handlers: 0.3-0.4 ms of CPU for a MiB
 * instead of 1.8. Without that stream `grpc-js` sends everything.
 */
export class MessageSender {
  readonly #wire: ServerInterceptingCallInterface
  readonly #stream: ServerHttp2Stream | undefined

  constructor(wire: ServerInterceptingCallInterface) {
    this.#wire = wire
    this.#stream = http2StreamOf(wire)
  }

  /** Calls back when the transport has passed the message on, and never after the call was cancelled. */
  send(message: Encoded, sent: () => void): void {
    const { parts, byteLength } = message
    if (this.#stream === undefined || parts === undefined || byteLength < COPIED_BYTES) {
      this.#wire.sendMessage(message, sent)
    } else if (!this.#stream.destroyed && !this.#stream.closed) {
      // Does nothing the second time.
      this.#wire.sendMetadata(new Metadata())
      writeParts(this.#stream, parts, byteLength, sent)
    }
  }
}

const writeParts = (
  stream: ServerHttp2Stream,
  parts: readonly Uint8Array[],
  byteLength: number,
  sent: () => void,
): void => {
  const prefix = Buffer.allocUnsafe(PREFIX_BYTES)
  prefix[0] = 0
  prefix.writeUInt32BE(byteLength, 1)
  stream.cork()
  stream.write(prefix)
  for (const part of parts.slice(0, -1)) stream.write(part)
  // A failed write closes the stream, and grpc-js reports that as the cancel of the call.
  stream.write(parts.at(-1), (error) => error || sent())
  stream.uncork()
}
