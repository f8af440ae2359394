import { isStatus, StatusError } from '../../../base/status-error.js'
import { type Call, callWith, whenAborted } from '../../../rpc/call.js'
import type { Blob } from '../../../stream/blob/blob.js'
import { ReadOn, type Take } from './read-on.js'

/** How far a reader may lag behind a copy. A copy keeps at most this much, and one chunk, in memory. */
export const WINDOW_BYTES = 4 * 1024 * 1024

interface Chunk<Mark> {
  readonly bytes: Buffer
  /** What a reader needs that leaves the copy after these bytes. */
  readonly mark: Mark
}

/** Opens the rest of the blob for a reader that leaves the copy; undefined as mark before the first byte. */
type OpenRest<Mark> = (position: number, mark: Mark | undefined, call: Call) => Promise<Blob>

/** The latest bytes of a copy, for readers that keep up. It waits for none of them. */
export class Window<Mark> {
  readonly #openRest: OpenRest<Mark>
  readonly #chunks: Chunk<Mark>[] = []
  #fromBytes = 0
  #endBytes = 0
  #end: 'over' | StatusError | undefined
  readonly #waiting: (() => void)[] = []

  constructor(openRest: OpenRest<Mark>) {
    this.#openRest = openRest
  }

  add(bytes: Buffer, mark: Mark): void {
    this.#chunks.push({ bytes, mark })
    this.#endBytes += bytes.length
    for (let oldest = this.#chunks[0]; oldest !== undefined; oldest = this.#chunks[0]) {
      if (this.#endBytes - this.#fromBytes - oldest.bytes.length < WINDOW_BYTES) break
      this.#fromBytes += oldest.bytes.length
      this.#chunks.shift()
    }
    this.#wake()
  }

  /** No more bytes come: the blob is complete and right, or the copy failed. Only the first end counts. */
  end(failure?: StatusError): void {
    this.#end ??= failure ?? 'over'
    this.#wake()
  }

  /** The chunk at a position, or why there is none: it was dropped, has not arrived, or the copy ended before it. */
  at(position: number): Chunk<Mark> | 'gone' | 'later' | 'over' | StatusError {
    if (position < this.#fromBytes) return 'gone'
    let start = this.#fromBytes
    for (const chunk of this.#chunks) {
      if (position < start + chunk.bytes.length) return chunk
      start += chunk.bytes.length
    }
    return this.#end ?? 'later'
  }

  /** All bytes for one reader. It leaves the copy if it falls behind, or if the copy fails but the blob is right. */
  read(call: Call): ReadOn {
    let mark: Mark | undefined
    const follow = async (take: Take, signal: AbortSignal): Promise<void> => {
      whenAborted(signal, () => this.#wake())
      for (let position = 0; ; ) {
        const found = this.at(position)
        if (found === 'over') return
        if (found === 'gone' || signal.aborted) throw new StatusError('CANCELLED', 'the reader leaves the copy')
        if (found instanceof StatusError) throw found
        await new Promise<void>((resolve) => {
          if (found === 'later') return this.#waiting.push(resolve)
          position += found.bytes.length
          mark = found.mark
          return take(found.bytes, resolve) && resolve()
        })
      }
    }
    const open = (failure: StatusError, position: number, _: boolean, signal: AbortSignal): Promise<Blob> =>
      isStatus(failure, 'DATA_LOSS')
        ? Promise.reject(failure)
        : this.#openRest(position, mark, callWith(call, { signal }))
    return new ReadOn(follow, { open })
  }

  #wake(): void {
    for (const wake of this.#waiting.splice(0)) wake()
  }
}
