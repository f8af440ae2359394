import type { ErrorCodeName } from '../http2/frame/frame.js'
import type { RequestHead } from '../http2/request-head.js'
import type { Consumer, RequestStream } from '../http2/request-stream.js'
import type { ThreadChannel } from './channel.js'
import type { CarriedToThread } from './events.js'

/** Memory of responses that have not left. */
export interface Waiting {
  /** Counts bytes if there is room for them. */
  take(sizeBytes: number): boolean
  give(sizeBytes: number): void
}

interface RemoteStreamParts {
  readonly thread: ThreadChannel<CarriedToThread>
  readonly waiting: Waiting
  readonly forget: () => void
}

/** A request whose connection a service thread has. */
export class RemoteStream implements RequestStream {
  readonly head: RequestHead
  consumer: Consumer | undefined
  isRemoteEnded: boolean
  readonly #number: number
  readonly #thread: ThreadChannel<CarriedToThread>
  readonly #waiting: Waiting
  readonly #forget: () => void
  /** Called when a write has left, in their order. */
  readonly #writes: ((() => void) | undefined)[] = []
  /** Bytes of the writes that the thread does not have yet. It counts what it has. */
  readonly #untakenBytes: number[] = []
  /** Bytes that `makeRoom` has counted for the next writes. */
  #roomBytes = 0
  #onRoom: ((sizeBytes: number) => void) | undefined
  #isEnded = false
  #isGone = false
  #isHandled = false

  constructor(
    number: number,
    { head, isRemoteEnded }: Pick<RequestStream, 'head' | 'isRemoteEnded'>,
    { thread, waiting, forget }: RemoteStreamParts,
  ) {
    this.#number = number
    this.head = head
    this.isRemoteEnded = isRemoteEnded
    this.#thread = thread
    this.#waiting = waiting
    this.#forget = forget
  }

  get isWritable(): boolean {
    return !this.#isGone && !this.#isEnded
  }

  makeRoom(sizeBytes: number): boolean {
    if (!this.#waiting.take(sizeBytes)) return false
    this.#roomBytes += sizeBytes
    return true
  }

  respond(block: Buffer, isEnd: boolean): void {
    if (!this.isWritable) return
    this.#isEnded = isEnd
    this.#thread.send('respond', this.#number, this.#thread.copyOf(block), isEnd)
  }

  write(bytes: Buffer, written?: () => void): void {
    if (!this.isWritable) {
      written?.()
      return
    }
    const heldBytes = Math.min(bytes.length, this.#roomBytes)
    this.#roomBytes -= heldBytes
    this.#writes.push(written)
    this.#untakenBytes.push(heldBytes)
    this.#thread.send('write', this.#number, this.#thread.copyOf(bytes))
  }

  whenRoom(callback: (sizeBytes: number) => void): void {
    if (!this.isWritable) return
    this.#onRoom = callback
    this.#thread.send('wantsRoom', this.#number)
  }

  flush(): void {
    if (!this.#isGone) this.#thread.send('flush', this.#number)
  }

  end(trailers?: Buffer): void {
    if (!this.isWritable) return
    this.#isEnded = true
    this.#thread.send('end', this.#number, trailers && this.#thread.copyOf(trailers))
  }

  reset(code: ErrorCodeName): void {
    if (this.#isGone) return
    this.#thread.send('reset', this.#number, code)
  }

  consumed(sizeBytes: number): void {
    if (!this.#isGone && sizeBytes > 0) this.#thread.send('consumed', this.#number, sizeBytes)
  }

  handled(): void {
    if (this.#isHandled) return
    this.#isHandled = true
    this.#thread.send('handled', this.#number)
    this.#waiting.give(this.#roomBytes)
    this.#roomBytes = 0
    this.#forgetIfOver()
  }

  ended(): void {
    this.isRemoteEnded = true
    this.consumer?.ended()
  }

  /** A write has left. */
  written(): void {
    if (this.#writes.length === 0) return
    this.#writes.shift()?.()
    this.#forgetIfOver()
  }

  /** The thread has, and counts, the oldest write of those that it did not have. */
  taken(): void {
    this.#waiting.give(this.#untakenBytes.shift() ?? 0)
  }

  room(sizeBytes: number): void {
    const callback = this.#onRoom
    this.#onRoom = undefined
    callback?.(sizeBytes)
  }

  sweep(nowMs: number): void {
    this.consumer?.sweep(nowMs)
  }

  /** The stream was reset, or its connection is closed. */
  gone(): void {
    if (this.#isGone) return
    this.#isGone = true
    this.#onRoom = undefined
    this.consumer?.gone()
    while (this.#writes.length > 0) this.written()
    for (const sizeBytes of this.#untakenBytes.splice(0)) this.#waiting.give(sizeBytes)
    this.#forgetIfOver()
  }

  #forgetIfOver(): void {
    if (this.#isHandled && this.#writes.length === 0) this.#forget()
  }
}
