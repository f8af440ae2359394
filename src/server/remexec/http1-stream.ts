import { Duplex } from 'node:stream'
import type { Client } from '../client.js'
import type { Channel } from '../http2/output.js'

type Done = (error?: Error | null) => void

/** A channel as the stream that Node's HTTP/1 server takes for a connection (RFC 9112, 9). */
export class Http1Stream extends Duplex {
  readonly #channel: Channel

  constructor(
    channel: Channel,
    readonly client: Client,
  ) {
    super()
    this.#channel = channel
    this.on('error', () => {})
  }

  /** Takes bytes that may be overwritten after the call. */
  received(bytes: Buffer): void {
    if (!this.push(Buffer.from(bytes))) this.#channel.pause()
  }

  ended(): void {
    this.push(null)
    this.destroy()
  }

  override _read(): void {
    this.#channel.resume()
  }

  override _write(chunk: Buffer, _encoding: BufferEncoding, callback: Done): void {
    this.#channel.write([chunk], callback)
  }

  override _final(callback: Done): void {
    this.#channel.end()
    callback()
  }

  override _destroy(error: Error | null, callback: Done): void {
    this.#channel.destroy()
    callback(error)
  }
}
