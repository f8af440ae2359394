import { Readable } from 'node:stream'
import type { PulledMessages } from './request-messages.js'

/** The request messages of a call as a stream that buffers one message. */
export class RequestStream extends Readable {
  readonly #messages: PulledMessages

  constructor(messages: PulledMessages) {
    super({ objectMode: true, highWaterMark: 1 })
    this.#messages = messages
    // Readers get the error. If no handler is reading, it must not end the process.
    this.on('error', () => {})
  }

  override _read(): void {
    this.#messages.next().then(
      (next) => this.push(next === undefined ? null : next.message),
      (error: Error) => this.destroy(error),
    )
  }
}
