import { Socket } from 'node:net'
import { notePassed } from '../../base/passing-buffers.js'
import { guardedImmediate } from '../../base/timers.js'
import { markLike } from '../client.js'
import type { Channel } from '../http2/output.js'

/** Receives the bytes that a channel reads. */
export interface ChannelReader {
  /** `chunk` may be overwritten after the call. */
  read(chunk: Buffer): void
  closed(): void
}

/**
 * One read buffer for all sockets of a thread: a read ends before the next begins, and no code keeps a reference.
 * Larger buffers were not faster.
 */
const READ_BYTES = 64 * 1024
const readBuffer = Buffer.allocUnsafeSlow(READ_BYTES)

/**
 * What one connection may read in a turn of the event loop before the others have theirs. Node reads up to 32 full buffers in
 * one go, which takes milliseconds if they are hashed. With a quarter of this, an upload of 1 MiB took five more writes to the
 * socket (of window updates) and eight more calls of `epoll_ctl`.
 */
const TURN_BYTES = 1024 * 1024
/** Reads below this do not fill a turn, so they are not counted. Those of TLS are no larger. */
const COUNTED_BYTES = 16 * 1024

/**
 * A socket (the TCP connection of RFC 9113, 3) as a source and sink of bytes, without Node's readable stream if
 * possible.
 */
export class SocketChannel implements Channel {
  readonly #socket: Socket
  readonly #reader: ChannelReader
  #turnBytes = 0
  /** By `pause`. */
  #isPaused = false

  /** Takes over a socket. What it had read was taken out of it. */
  constructor(accepted: Socket, reader: ChannelReader, onError: (error: Error) => void) {
    this.#reader = reader
    const adopted = adopt(accepted, (chunk) => this.#take(chunk))
    this.#socket = adopted ?? accepted
    markLike(accepted, this.#socket)
    this.#socket.on('error', onError)
    this.#socket.once('close', () => this.#reader.closed())
    if (adopted !== undefined) return
    // The socket may have been paused when it was accepted.
    const take = (chunk: Buffer): void => {
      this.#take(chunk)
      notePassed(chunk.length)
    }
    accepted.on('data', take).resume()
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
    this.#isPaused = true
    this.#socket.pause()
  }

  resume(): void {
    this.#isPaused = false
    if (this.#turnBytes < TURN_BYTES) this.#socket.resume()
  }

  end(): void {
    this.#socket.end()
  }

  destroy(): void {
    this.#socket.destroy()
  }

  #take(chunk: Buffer): void {
    this.#reader.read(chunk)
    const { length } = chunk
    if (length < COUNTED_BYTES) return
    if (this.#turnBytes === 0) guardedImmediate(this.#nextTurn)
    const before = this.#turnBytes
    this.#turnBytes += length
    if (before < TURN_BYTES && this.#turnBytes >= TURN_BYTES) this.#socket.pause()
  }

  readonly #nextTurn = (): void => {
    const isHeld = this.#turnBytes >= TURN_BYTES
    this.#turnBytes = 0
    if (isHeld && !this.#isPaused) this.#socket.resume()
  }
}

/**
 * Replaces an accepted socket by one that reads into `readBuffer`. Node offers `onread` only for sockets created by the
 * program, and only the private field `_handle` turns one into the other. Returns undefined if that field is missing or
 * the socket uses TLS. Chunks then arrive as events, each in its own buffer, and uploads cost about twice the CPU time.
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
