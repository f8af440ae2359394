import { Duplex } from 'node:stream'
import type { Channel } from '../http2/output.js'

/**
 * For bytes on their way to the parser, which copies what it keeps. A buffer for each read would be memory outside of V8's heap, and V8
 * collects the whole heap, however large, after 64 MiB of that.
 */
let passing: Buffer | undefined

type Done = (error?: Error | null) => void

/** The channel of a socket that another thread has, as the connection stream of Node's HTTP/1 server (RFC 9112, 9). */
export class Http1Stream extends Duplex {
  readonly #channel: Channel
  bytesRead = 0

  constructor(channel: Channel) {
    super()
    this.#channel = channel
    this.on('error', () => {})
  }

  /** Takes bytes. The caller may overwrite them afterwards. */
  received(bytes: Buffer): void {
    this.bytesRead += bytes.length
    const buffer =
      passing !== undefined && bytes.length <= passing.length ? passing : Buffer.allocUnsafeSlow(bytes.length)
    bytes.copy(buffer)
    passing = undefined
    const isMoreWanted = this.push(buffer.subarray(0, bytes.length))
    // Whoever reads has seen them.
    if (this.readableLength === 0) passing = buffer
    if (!isMoreWanted) this.#channel.pause()
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

  override _writev(chunks: { chunk: Buffer; encoding: BufferEncoding }[], callback: Done): void {
    this.#channel.write(
      chunks.map(({ chunk }) => chunk),
      callback,
    )
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
