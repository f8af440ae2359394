import type { Readable } from 'node:stream'
import type { WriteRequest } from '../../proto/generated/google.bytestream.js'

/**
 * The messages of a Write, one by one, for a reader that asks for one at a time. What the async iterator of Node's streams does, without
 * its generator, its watch over the end and the promises of both: most uploads are one message and its end.
 */
export class WriteMessages {
  readonly #requests: Readable
  #failure: Error | undefined
  #isOver = false
  #wake: (() => void) | undefined

  constructor(requests: Readable) {
    this.#requests = requests
    this.#failure = requests.errored ?? undefined
    this.#isOver = requests.destroyed || requests.readableEnded
    const wake = (): void => this.#wake?.()
    const end = (): void => {
      this.#isOver = true
      wake()
    }
    requests.on('readable', wake).on('end', end).on('close', end)
    requests.on('error', (error) => {
      this.#failure = error
      end()
    })
  }

  /** The next message; undefined once the client half-closed. Rejects with what the stream was destroyed with. */
  async next(): Promise<WriteRequest | undefined> {
    for (;;) {
      if (this.#failure !== undefined) throw this.#failure
      const message: WriteRequest | null = this.#isOver ? null : this.#requests.read()
      if (message !== null) return message
      if (this.#isOver) return this.#end()
      await new Promise<void>((resolve) => {
        this.#wake = resolve
      })
    }
  }

  #end(): undefined {
    if (this.#requests.readableEnded) return undefined
    throw new Error('the stream of messages was closed before its end')
  }
}
