import { Readable, Writable } from 'node:stream'
import { StatusError } from '../../base/status-error.js'
import type { Blob } from '../../stream/blob/blob.js'
import { STAGE_BYTES } from '../../stream/path.js'
import type { Window } from './window.js'

/** Opens the blob from a position on, past the copy. */
type OpenRest = (position: number, signal: AbortSignal) => Promise<Blob>

/**
 * One reader of a copy under way. While it keeps up it gets the copy's bytes; one that lags behind what the copy still has
 * goes on by itself from where it is.
 */
export class CopyReader extends Readable {
  readonly #window: Window
  readonly #openRest: OpenRest
  readonly #abort = new AbortController()
  readonly #stopListening: () => void
  #position = 0
  #wantsMore = false
  #hasLeft = false
  #onRoom: (() => void) | undefined

  constructor(window: Window, openRest: OpenRest) {
    super({ highWaterMark: STAGE_BYTES })
    this.#window = window
    this.#openRest = openRest
    this.#stopListening = window.onNews(() => this.#follow())
  }

  override _read(): void {
    this.#wantsMore = true
    if (this.#hasLeft) this.#wake()
    else this.#follow()
  }

  override _destroy(error: Error | null, callback: (error: Error | null) => void): void {
    this.#stopListening()
    this.#abort.abort()
    this.#wake()
    callback(error)
  }

  #follow(): void {
    while (this.#wantsMore && !this.#hasLeft && !this.destroyed) {
      const bytes = this.#window.at(this.#position)
      if (bytes === 'later') return
      if (bytes === 'gone') {
        this.#hasLeft = true
        void this.#goOn()
      } else if (bytes === 'over') {
        this.#hasLeft = true
        this.push(null)
      } else if (bytes instanceof StatusError) {
        this.destroy(bytes)
      } else {
        this.#position += bytes.length
        this.#wantsMore = this.push(bytes)
      }
    }
  }

  async #goOn(): Promise<void> {
    this.#stopListening()
    try {
      const rest = await this.#openRest(this.#position, this.#abort.signal)
      await rest.into([new Relay((chunk, done) => this.#relay(chunk, done))], this.#abort.signal)
      this.push(null)
    } catch (error) {
      this.destroy(StatusError.from(error))
    }
  }

  #relay(chunk: Buffer, done: () => void): void {
    if (this.push(chunk) || this.destroyed) done()
    else this.#onRoom = done
  }

  #wake(): void {
    const onRoom = this.#onRoom
    this.#onRoom = undefined
    onRoom?.()
  }
}

class Relay extends Writable {
  readonly #take: (chunk: Buffer, done: () => void) => void

  constructor(take: (chunk: Buffer, done: () => void) => void) {
    super({ highWaterMark: STAGE_BYTES })
    this.#take = take
  }

  override _write(chunk: Buffer, _encoding: BufferEncoding, callback: () => void): void {
    this.#take(chunk, callback)
  }
}
