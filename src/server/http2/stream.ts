import { type ErrorCodeName, StreamError } from './frame/frame.js'
import type { RequestHead } from './request-head.js'
import { Outbox, type Sender } from './sender.js'

/** Who takes a request: told what comes, as it comes. */
export interface Consumer {
  /**
   * Bytes of the body, valid during the call only. They count against the client's windows until `consumed` is called
   * for them.
   */
  data(bytes: Buffer): void
  /** The client has sent everything. */
  ended(): void
  /** Called about once a second while the stream is open. */
  sweep(nowMs: number): void
  /** The stream is gone before both sides were done with it: nothing that is sent on it arrives any more. */
  gone(): void
}

/** What a stream needs of its connection. */
export interface StreamHost {
  readonly sender: Sender
  /** Gives bytes back to the window of the connection. */
  consumed(sizeBytes: number): void
  windowUpdate(streamId: number, sizeBytes: number): void
  resetStream(stream: Http2Stream, code: ErrorCodeName): void
  /** Both sides are done. */
  streamEnded(stream: Http2Stream): void
  /** Its handler has ended. */
  handlerEnded(stream: Http2Stream): void
}

/** One request and its response (RFC 9113, 5.1), as seen by the server. */
export class Http2Stream {
  readonly id: number
  readonly head: RequestHead
  /** What the fields of the request count as. */
  readonly fieldsBytes: number
  readonly outbox: Outbox
  consumer: Consumer | undefined
  /** Sides that are done: the client's by END_STREAM, ours by END_STREAM that has been put into the output. */
  isRemoteEnded: boolean
  isLocalEnded = false
  isGone = false
  /** The handler has ended: until then the stream counts for the limit of streams, whatever its state. */
  isHandled = false
  /** When the sweep first saw that only the client's side was open. */
  readOffSinceMs: number | undefined
  /** How much the client may still send. */
  receiveWindowBytes: number
  #receivedBytes = 0
  #owedBytes = 0
  readonly #maxWindowBytes: number
  readonly #host: StreamHost

  constructor(
    id: number,
    { head, fieldsBytes }: { readonly head: RequestHead; readonly fieldsBytes: number },
    isRemoteEnded: boolean,
    windows: { readonly receiveBytes: number; readonly sendBytes: number },
    host: StreamHost,
  ) {
    this.id = id
    this.head = head
    this.fieldsBytes = fieldsBytes
    this.isRemoteEnded = isRemoteEnded
    this.receiveWindowBytes = windows.receiveBytes
    this.#maxWindowBytes = windows.receiveBytes
    this.#host = host
    this.outbox = new Outbox(id, windows.sendBytes, () => this.#localEnd())
  }

  /** Whether something can still be sent. */
  get isWritable(): boolean {
    return !this.isGone && !this.isLocalEnded && this.outbox.ending === undefined
  }

  /** Whether so many bytes may be written, as far as the process has room for what waits for clients. */
  makeRoom(sizeBytes: number): boolean {
    return this.#host.sender.makeRoom(sizeBytes)
  }

  /** Sends a response head. With `isEnd` that is the whole response. */
  respond(block: Buffer, isEnd: boolean): void {
    if (!this.isWritable) return
    this.#host.sender.headers(this.id, block, isEnd)
    if (isEnd) this.#localEnd()
  }

  /** Sends bytes of the response, which stay as they are until `written` is called; it is called in any case. */
  write(bytes: Buffer, written?: () => void): void {
    if (!this.isWritable) {
      written?.()
      return
    }
    this.#host.sender.add(this.outbox, bytes, written)
  }

  /**
   * Calls back, perhaps at once, with how many bytes it is time to write: what the client takes now, in portions worth reading
   * for. Not at all once nothing can be sent any more.
   */
  whenRoom(callback: (sizeBytes: number) => void): void {
    if (this.isWritable) this.#host.sender.whenRoom(this.outbox, callback)
  }

  /** Lets what was written go, as far as windows allow. */
  flush(): void {
    if (!this.isGone) this.#host.sender.pump(this.outbox)
  }

  /** Ends the response behind what was written: with a block of trailers, or without. */
  end(trailers?: Buffer): void {
    if (!this.isWritable) return
    this.outbox.ending = trailers ?? 'data'
    this.#host.sender.pump(this.outbox)
  }

  /** Ends the stream at once in both directions. */
  reset(code: ErrorCodeName): void {
    if (!this.isGone) this.#host.resetStream(this, code)
  }

  /** Bytes of `Consumer.data` are no longer held: the client may send as many more. */
  consumed(sizeBytes: number): void {
    this.#host.consumed(sizeBytes)
    if (this.isRemoteEnded || this.isGone) return
    this.#owedBytes += sizeBytes
    if (this.#owedBytes < this.#maxWindowBytes / 2) return
    this.#host.windowUpdate(this.id, this.#owedBytes)
    this.receiveWindowBytes += this.#owedBytes
    this.#owedBytes = 0
  }

  /** The handler of the request has ended. */
  handled(): void {
    if (this.isHandled) return
    this.isHandled = true
    this.#host.handlerEnded(this)
  }

  /** Counts bytes of the body; throws when more came than was announced (RFC 9113, 8.1.1). */
  countBody(sizeBytes: number): void {
    this.#receivedBytes += sizeBytes
    const { contentLengthBytes } = this.head
    if (contentLengthBytes !== undefined && this.#receivedBytes > contentLengthBytes) throw this.#wrongLength()
  }

  /** Throws unless as much has come as was announced. */
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
