import { Duplex } from 'node:stream'
import type { Client } from '../client.js'
import type { Channel } from '../http2/output.js'

type Done = (error?: Error | null) => void

/** A channel as the connection stream of Node's HTTP/1 server (RFC 9112, 9). */
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

  /** Takes bytes. The caller may overwrite them afterwards. */
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
