import { Duplex } from 'node:stream'
import { StatusError } from '../base/status-error.js'
import { TimeSlices } from '../work/time-slices.js'
import { closeAfter } from './call-back.js'
import { STAGE_BYTES } from './path.js'

/** The chunks that a loop reads. A second iteration continues where the first one stopped. */
export type LoopInput = AsyncIterableIterator<Buffer>

/**
 * Converts input chunks to output chunks. It is resumed only when the reader has room, and when the event
 * loop has had its turn. An empty buffer yields the turn without output.
 */
export type LoopBody = (input: LoopInput) => AsyncIterable<Buffer>

/**
 * How long a loop may block the event loop if its source and reader never wait. Native packages free buffers
 * only between turns: 1 GiB through lz4-napi grew the process by 1,050 MiB without turns, by less than 100
 * MiB with turns.
 */
const SLICE_MS = 1

/** Shared, because hundreds of loops may begin in the same turn. */
const slices = new TimeSlices(SLICE_MS)

/**
 * A stage written as a loop: an async generator over input chunks that yields output chunks. An exception
 * fails the stage. Its `finally` blocks run in any case, before the stage has closed. Input that remains
 * after it returns is discarded.
 */
export class Loop extends Duplex {
  readonly #body: LoopBody
  #running: Promise<void> | undefined
  #arrived: Buffer | undefined
  #taken: () => void = () => {}
  #isEnded = false
  #hasRoom = false
  #wake: () => void = () => {}

  constructor(body: LoopBody) {
    super({ highWaterMark: STAGE_BYTES })
    this.#body = body
  }

  override _write(chunk: Buffer, _encoding: BufferEncoding, callback: () => void): void {
    this.#arrived = chunk
    this.#taken = callback
    this.#goOn()
  }

  override _final(callback: () => void): void {
    this.#isEnded = true
    this.#goOn()
    callback()
  }

  override _read(): void {
    this.#hasRoom = true
    this.#goOn()
  }

  override _destroy(error: Error | null, callback: (error: Error | null) => void): void {
    this.#wake()
    if (this.#running === undefined) callback(error)
    else closeAfter(this.#running, error, callback)
  }

  #goOn(): void {
    this.#running ??= this.#run()
    this.#wake()
  }

  async #run(): Promise<void> {
    const input: LoopInput = { next: () => this.#next(), [Symbol.asyncIterator]: () => input }
    try {
      for await (const bytes of this.#body(input)) await this.#give(bytes)
      for await (const _ of input);
      this.push(null)
    } catch (error) {
      this.destroy(StatusError.from(error))
    }
  }

  async #next(): Promise<IteratorResult<Buffer, undefined>> {
    await slices.step()
    await this.#until(() => this.#arrived !== undefined || this.#isEnded)
    const chunk = this.#arrived
    if (chunk === undefined) return { done: true, value: undefined }
    this.#arrived = undefined
    this.#taken()
    return { done: false, value: chunk }
  }

  async #give(bytes: Buffer): Promise<void> {
    await slices.step()
    await this.#until(() => this.#hasRoom)
    if (bytes.length > 0) this.#hasRoom = this.push(bytes)
  }

  async #until(isSo: () => boolean): Promise<void> {
    while (!this.destroyed && !isSo()) {
      await new Promise<void>((resolve) => {
        this.#wake = resolve
      })
    }
    if (this.destroyed) throw new StatusError('CANCELLED', 'the transfer is over')
  }
}
