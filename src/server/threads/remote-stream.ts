import type { ErrorCodeName } from '../http2/frame/frame.js'
import type { RequestHead } from '../http2/request-head.js'
import type { Consumer, RequestStream } from '../http2/request-stream.js'
import { type BatchedPort, bufferOf } from './batched-port.js'
import { ToOwner, ToThread } from './events.js'

/** Memory of responses that have not left. */
export interface Waiting {
  /** Counts bytes if there is room for them. */
  take(sizeBytes: number): boolean
  give(sizeBytes: number): void
}

/** A request whose connection a service thread has. */
export class RemoteStream implements RequestStream {
  readonly head: RequestHead
  consumer: Consumer | undefined
  isRemoteEnded: boolean
  readonly #id: number
  readonly #port: BatchedPort
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
    id: number,
    { head, isRemoteEnded }: Pick<RequestStream, 'head' | 'isRemoteEnded'>,
    { port, waiting, forget }: { readonly port: BatchedPort; readonly waiting: Waiting; readonly forget: () => void },
  ) {
    this.#id = id
    this.head = head
    this.isRemoteEnded = isRemoteEnded
    this.#port = port
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
    this.#port.send([ToThread.RESPOND, this.#id, this.#port.copyOf(block), isEnd])
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
    this.#port.send([ToThread.WRITE, this.#id, this.#port.copyOf(bytes)])
  }

  whenRoom(callback: (sizeBytes: number) => void): void {
    if (!this.isWritable) return
    this.#onRoom = callback
    this.#port.send([ToThread.WANTS_ROOM, this.#id])
  }

  flush(): void {
    if (!this.#isGone) this.#port.send([ToThread.FLUSH, this.#id])
  }

  end(trailers?: Buffer): void {
    if (!this.isWritable) return
    this.#isEnded = true
    this.#port.send([ToThread.END, this.#id, trailers && this.#port.copyOf(trailers)])
  }

  reset(code: ErrorCodeName): void {
    if (this.#isGone) return
    this.#port.send([ToThread.RESET, this.#id, code])
  }

  consumed(sizeBytes: number): void {
    if (!this.#isGone && sizeBytes > 0) this.#port.send([ToThread.CONSUMED, this.#id, sizeBytes])
  }

  handled(): void {
    if (this.#isHandled) return
    this.#isHandled = true
    this.#port.send([ToThread.HANDLED, this.#id])
    this.#waiting.give(this.#roomBytes)
    this.#roomBytes = 0
    this.#forgetIfOver()
  }

  /** An event of the thread. */
  receive(kind: number, value: unknown): void {
    if (kind === ToOwner.DATA) this.consumer?.data(bufferOf(value))
    else if (kind === ToOwner.ENDED) {
      this.isRemoteEnded = true
      this.consumer?.ended()
    } else if (kind === ToOwner.GONE) this.gone()
    else if (kind === ToOwner.WRITTEN) this.#written()
    else if (kind === ToOwner.TAKEN) this.#waiting.give(this.#untakenBytes.shift() ?? 0)
    else {
      const callback = this.#onRoom
      this.#onRoom = undefined
      callback?.(value as number)
    }
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
    while (this.#writes.length > 0) this.#written()
    for (const sizeBytes of this.#untakenBytes.splice(0)) this.#waiting.give(sizeBytes)
    this.#forgetIfOver()
  }

  #written(): void {
    if (this.#writes.length === 0) return
    this.#writes.shift()?.()
    this.#forgetIfOver()
  }

  #forgetIfOver(): void {
    if (this.#isHandled && this.#writes.length === 0) this.#forget()
  }
}
