import { Readable } from 'node:stream'
import type { PulledMessages } from './request-messages.js'

/** The request messages of a call as a stream, one held at a time. */
export class RequestStream extends Readable {
  readonly #messages: PulledMessages

  constructor(messages: PulledMessages) {
    super({ objectMode: true, highWaterMark: 1 })
    this.#messages = messages
    // Whoever reads gets the error; a handler that does not read yet (or any more) must not bring down the process.
    this.on('error', () => {})
  }

  override _read(): void {
    this.#messages.next().then(
      (next) => this.push(next === undefined ? null : next.message),
      (error: Error) => this.destroy(error),
    )
  }
}
