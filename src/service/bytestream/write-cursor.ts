import { StatusError } from '../../base/status-error.js'
import type { WriteRequest } from '../../proto/generated/google.bytestream.js'

/**
 * The position of a Write: the expected name and offset of the next message, and whether the last one had finish_write.
 */
export class WriteCursor {
  readonly #resourceName: string
  #offset: number
  #isFinished = false
  #hasRestarted = false

  constructor(first: WriteRequest) {
    this.#resourceName = first.resourceName
    this.#offset = first.writeOffset
  }

  get isFinished(): boolean {
    return this.#isFinished
  }

  /** Whether a later message has `write_offset` 0 again: its client does not count. */
  get hasRestarted(): boolean {
    return this.#hasRestarted
  }

  /** Accepts the next message, including the first one, or throws INVALID_ARGUMENT. */
  accept({ resourceName, writeOffset, finishWrite, data }: WriteRequest): void {
    if (this.#isFinished) throw invalid('a message follows the one with finish_write')
    if (resourceName !== '' && resourceName !== this.#resourceName) {
      throw invalid(
        `resource_name changed to ${shown(resourceName)}, expected ${shown(this.#resourceName)} again or none`,
      )
    }
    if (writeOffset !== this.#offset) {
      this.#hasRestarted = writeOffset === 0
      throw invalid(`write_offset is ${writeOffset}, expected ${this.#offset}`)
    }
    this.#offset += data.length
    this.#isFinished = finishWrite
  }
}

const invalid = (reason: string): StatusError => new StatusError('INVALID_ARGUMENT', `ByteStream.Write: ${reason}`)

const shown = (name: string): string => JSON.stringify(name.length > 200 ? `${name.slice(0, 200)}...` : name)
