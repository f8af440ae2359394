import { Duplex } from 'node:stream'
import { Metadata, type ServerInterceptingCallInterface } from '@grpc/grpc-js'
import type { Encoded } from '../proto/codec.js'

/** Below this a copy into one frame costs less than another buffer for the kernel to gather. */
const COPIED_BYTES = 8 * 1024

/** The length of gRPC's own head of a message: a flag for compression, four bytes of length. */
const PREFIX_BYTES = 5

/**
 * Sends the response messages of one call. What `grpc-js` sends it copies into a fresh frame; a message in parts is
 * written to the HTTP/2 stream below it from where the parts lie. Measured with bare handlers: 0.3-0.4 ms of CPU for a MiB
 * instead of 1.8. The stream sits in a private field: should that go away, `grpc-js` sends everything.
 */
export class MessageSender {
  readonly #wire: ServerInterceptingCallInterface
  readonly #stream: Duplex | undefined

  constructor(wire: ServerInterceptingCallInterface) {
    this.#wire = wire
    const stream: unknown = Reflect.get(wire, 'stream')
    this.#stream = stream instanceof Duplex ? stream : undefined
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

const writeParts = (stream: Duplex, parts: readonly Uint8Array[], byteLength: number, sent: () => void): void => {
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
