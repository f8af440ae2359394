import { Socket } from 'node:net'
import { type Client, clientOf } from '../client.js'
import type { Channel } from '../http2/output.js'

/** Who takes what a channel reads. */
export interface ChannelReader {
  /** Bytes that may be overwritten after the call. */
  read(chunk: Buffer): void
  closed(): void
}

/**
 * One buffer for every socket of a thread: a read ends before the next begins, and nobody keeps what lies in it. Larger
 * ones read no faster.
 */
const READ_BYTES = 64 * 1024
const readBuffer = Buffer.allocUnsafeSlow(READ_BYTES)

/** A socket (the TCP connection of RFC 9113, 3) as bytes in and out, without Node's readable stream where that can be had. */
export class SocketChannel implements Channel {
  readonly #socket: Socket
  readonly #reader: ChannelReader

  /** Takes over a socket of which nothing has been read. */
  constructor(accepted: Socket, reader: ChannelReader, onError: (error: Error) => void) {
    this.#reader = reader
    const adopted = adopt(accepted, (chunk) => this.#reader.read(chunk))
    this.#socket = adopted ?? accepted
    this.#socket.on('error', onError)
    this.#socket.once('close', () => this.#reader.closed())
    if (adopted !== undefined) return
    // It may have been paused when it was accepted.
    accepted.on('data', (chunk) => this.#reader.read(chunk)).resume()
  }

  get client(): Client {
    return clientOf(this.#socket)
  }

  write(parts: readonly Buffer[], written: (error?: Error | null) => void): void {
    const socket = this.#socket
    const last = parts.length - 1
    if (last > 0) socket.cork()
    for (let index = 0; index < last; index++) socket.write(parts[index] as Buffer)
    socket.write(parts[last] as Buffer, written)
    if (last > 0) socket.uncork()
  }

  pause(): void {
    this.#socket.pause()
  }

  resume(): void {
    this.#socket.resume()
  }

  end(): void {
    this.#socket.end()
  }

  destroy(): void {
    this.#socket.destroy()
  }
}

/**
 * A socket that reads into `readBuffer`, in place of one that a server has accepted: Node offers that (`onread`) for
 * sockets that one makes oneself, and only the handle, a private field, makes one of the other. Should that field go
 * away, or the socket be one of TLS, nothing is given and chunks come as events, each in a buffer of its own: uploads
 * then cost about twice the CPU time.
 */
const adopt = (accepted: Socket, read: (chunk: Buffer) => void): Socket | undefined => {
  const handle: unknown = Reflect.get(accepted, '_handle')
  if (accepted.constructor !== Socket || typeof handle !== 'object' || handle === null) return undefined
  if (!('useUserBuffer' in handle)) return undefined
  const onread = {
    buffer: readBuffer,
    callback: (length: number): boolean => {
      read(readBuffer.subarray(0, length))
      return true
    },
  }
  Reflect.set(accepted, '_handle', null)
  accepted.destroy()
  return new Socket({ handle, onread } as ConstructorParameters<typeof Socket>[0])
}
