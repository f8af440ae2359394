import type { MessagePort } from 'node:worker_threads'
import { guardedImmediate } from '../../base/timers.js'

/** One event between two threads: its kind, what it is about, and values. */
export type Carried = readonly [kind: number, id: number, ...values: unknown[]]

/**
 * Sends events to another thread, all of one turn of the event loop in one message, because a message costs more than what
 * is in it. Their order is kept.
 */
export class BatchedPort {
  readonly #port: Pick<MessagePort, 'postMessage'>
  #waiting: Carried[] = []
  #bytes: ArrayBuffer[] = []

  constructor(port: Pick<MessagePort, 'postMessage'>) {
    this.#port = port
  }

  send(event: Carried): void {
    if (this.#waiting.push(event) === 1) guardedImmediate(() => this.#flush())
  }

  /** Copies bytes for an event. The copy belongs to the other thread once it was sent. */
  copyOf(bytes: Uint8Array): Uint8Array {
    const copy = new Uint8Array(bytes)
    this.#bytes.push(copy.buffer)
    return copy
  }

  #flush(): void {
    const waiting = this.#waiting
    const bytes = this.#bytes
    this.#waiting = []
    this.#bytes = []
    this.#port.postMessage(waiting, bytes)
  }
}

/** Received bytes as a Buffer, without a copy. */
export const bufferOf = (bytes: unknown): Buffer => {
  if (!(bytes instanceof Uint8Array)) throw new TypeError('expected bytes from the other thread')
  return Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength)
}
