import { type ErrorCodeName, StreamError } from './frame/frame.js'
import type { RequestHead } from './request-head.js'
import type { Consumer, RequestStream } from './request-stream.js'
import { Outbox, type Sender } from './sender.js'

/** The parts of the connection that a stream needs. */
export interface StreamHost {
  readonly sender: Sender
  /** Returns bytes to the window of the connection. */
  consumed(sizeBytes: number): void
  windowUpdate(streamId: number, sizeBytes: number): void
  resetStream(stream: Http2Stream, code: ErrorCodeName): void
  /** Both sides have ended. */
  streamEnded(stream: Http2Stream): void
  /** The handler of the stream has ended. */
  handlerEnded(stream: Http2Stream): void
}

/** One request and its response (RFC 9113, 5.1), as seen by the server. */
export class Http2Stream implements RequestStream {
  readonly id: number
  readonly head: RequestHead
  /** Size of the request's fields, as defined by RFC 9113, 6.5.2. */
  readonly fieldsBytes: number
  readonly outbox: Outbox
  consumer: Consumer | undefined
  /** Which sides have ended: the client's by END_STREAM, ours once END_STREAM is in the output. */
  isRemoteEnded: boolean
  isLocalEnded = false
  isGone = false
  /** Whether the handler has ended. Until then the stream counts for the limit of streams, in any state. */
  isHandled = false
  /** When a sweep first saw that only the client's side was open. */
  readOffSinceMs: number | undefined
  /** How many bytes the client may still send. */
  receiveWindowBytes: number
  #receivedBytes = 0
  #owedBytes = 0
  readonly #maxWindowBytes: number
  readonly #host: StreamHost

  constructor(
    id: number,
    { head, fieldsBytes }: { readonly head: RequestHead; readonly fieldsBytes: number },
    isRemoteEnded: boolean,
    windows: { readonly receiveBytes: number; readonly maxBytes: number; readonly sendBytes: number },
    host: StreamHost,
  ) {
    this.id = id
    this.head = head
    this.fieldsBytes = fieldsBytes
    this.isRemoteEnded = isRemoteEnded
    this.receiveWindowBytes = windows.receiveBytes
    this.#maxWindowBytes = windows.maxBytes
    this.#host = host
    this.outbox = new Outbox(id, windows.sendBytes, () => this.#localEnd())
  }

  get isWritable(): boolean {
    return !this.isGone && !this.isLocalEnded && this.outbox.ending === undefined
  }

  makeRoom(sizeBytes: number): boolean {
    return this.#host.sender.makeRoom(sizeBytes)
  }

  respond(block: Buffer, isEnd: boolean): void {
    if (!this.isWritable) return
    this.#host.sender.headers(this.id, block, isEnd)
    if (isEnd) this.#localEnd()
  }

  write(bytes: Buffer, written?: () => void): void {
    if (!this.isWritable) {
      written?.()
      return
    }
    this.#host.sender.add(this.outbox, bytes, written)
  }

  whenRoom(callback: (sizeBytes: number) => void): void {
    if (this.isWritable) this.#host.sender.whenRoom(this.outbox, callback)
  }

  flush(): void {
    if (!this.isGone) this.#host.sender.pump(this.outbox)
  }

  end(trailers?: Buffer): void {
    if (!this.isWritable) return
    this.outbox.ending = trailers ?? 'data'
    this.#host.sender.pump(this.outbox)
  }

  reset(code: ErrorCodeName): void {
    if (!this.isGone) this.#host.resetStream(this, code)
  }

  consumed(sizeBytes: number): void {
    this.#host.consumed(sizeBytes)
    if (this.isRemoteEnded || this.isGone) return
    this.#owedBytes += sizeBytes
    if (this.#owedBytes < this.#maxWindowBytes / 2) return
    this.#host.windowUpdate(this.id, this.#owedBytes)
    this.receiveWindowBytes += this.#owedBytes
    this.#owedBytes = 0
  }

  handled(): void {
    if (this.isHandled) return
    this.isHandled = true
    this.#host.handlerEnded(this)
  }

  /** Counts bytes of the body. Throws if they exceed the announced size (RFC 9113, 8.1.1). */
  countBody(sizeBytes: number): void {
    this.#receivedBytes += sizeBytes
    const { contentLengthBytes } = this.head
    if (contentLengthBytes !== undefined && this.#receivedBytes > contentLengthBytes) throw this.#wrongLength()
  }

  /** Throws if the body has another size than announced. */
  checkBodyComplete(): void {
    const { contentLengthBytes } = this.head
    if (contentLengthBytes !== undefined && this.#receivedBytes !== contentLengthBytes) throw this.#wrongLength()
  }

  remoteEnd(): void {
    this.isRemoteEnded = true
    this.consumer?.ended()
    if (this.isLocalEnded) this.#host.streamEnded(this)
  }

  #wrongLength(): StreamError {
    return new StreamError(this.id, 'PROTOCOL_ERROR', 'the body has another length than announced')
  }

  #localEnd(): void {
    if (this.isLocalEnded) return
    this.isLocalEnded = true
    this.#host.sender.ended(this.outbox)
    if (this.isRemoteEnded) this.#host.streamEnded(this)
  }
}
