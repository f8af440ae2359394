import { StatusError } from '../../../base/status-error.js'
import type { Blob } from '../../../stream/blob/blob.js'
import type { BlobFile } from '../../../stream/blob/file.js'
import { streamsOf } from '../../../stream/blob/form.js'
import { join } from '../../../stream/join.js'
import type { ReadPath } from '../../../stream/path.js'

/** The bytes of an upload, which may be read again after a lost connection. */
export interface UploadSource {
  /**
   * Returns the next bytes from `position`, empty at the end. UNAVAILABLE when they were returned before and are not
   * kept.
   */
  read(position: number): Promise<Buffer>
  /** Reads the rest, so that the blob is verified as a whole. */
  drain(): Promise<void>
  close(): Promise<void>
}

const MESSAGE_BYTES = 256 * 1024
/** How much of a stream is kept, in case sent bytes are lost: as much as the sockets on both sides hold. */
const WINDOW_BYTES = 4 * 1024 * 1024

export const uploadSource = async (blob: Blob, signal: AbortSignal): Promise<UploadSource> => {
  const form = await blob.take()
  if (form.kind === 'bytes') return ofBytes(form.bytes)
  return form.kind === 'file' ? ofFile(form.file) : new StreamedSource(streamsOf(form), signal)
}

const ofBytes = (bytes: Buffer): UploadSource => ({
  read: async (position) => bytes.subarray(position, position + MESSAGE_BYTES),
  drain: async () => {},
  close: async () => {},
})

const ofFile = (file: BlobFile): UploadSource => ({
  read: async (position) => {
    const bytes = Buffer.allocUnsafeSlow(Math.max(0, Math.min(MESSAGE_BYTES, file.sizeBytes - position)))
    return bytes.length === 0 ? bytes : bytes.subarray(0, await file.read(bytes, position))
  },
  drain: async () => {},
  close: () => file.close(),
})

/** A stream can be read only once, so the latest bytes are kept. */
class StreamedSource implements UploadSource {
  readonly #chunks: AsyncIterator<Buffer>
  readonly #done: Promise<void>
  readonly #kept: Buffer[] = []
  #keptFrom = 0
  #end = 0

  constructor(path: ReadPath, signal: AbortSignal) {
    this.#done = join(path, signal)
    // The next `read` reports the failure.
    this.#done.catch(() => {})
    this.#chunks = (path.at(-1) ?? path[0])[Symbol.asyncIterator]()
  }

  async read(position: number): Promise<Buffer> {
    if (position < this.#keptFrom) {
      throw new StatusError(
        'UNAVAILABLE',
        `the connection was lost, and byte ${position} of the upload is no longer kept`,
      )
    }
    if (position < this.#end) return this.#keptAt(position)
    return this.#next()
  }

  async drain(): Promise<void> {
    while ((await this.#next()).length > 0);
  }

  async close(): Promise<void> {
    await this.#chunks.return?.()
    await this.#done.catch(() => {})
  }

  async #next(): Promise<Buffer> {
    const step = await this.#chunks.next().catch(async (error: unknown) => {
      // `#done` has the cause; the stage only knows that it was destroyed.
      await this.#done
      throw error
    })
    if (step.done === true) {
      await this.#done
      return Buffer.alloc(0)
    }
    this.#kept.push(step.value)
    this.#end += step.value.length
    while (this.#end - this.#keptFrom > WINDOW_BYTES) this.#keptFrom += this.#kept.shift()?.length ?? 0
    return step.value
  }

  #keptAt(position: number): Buffer {
    let at = this.#keptFrom
    for (const chunk of this.#kept) {
      if (position < at + chunk.length) return chunk.subarray(position - at)
      at += chunk.length
    }
    throw new Error(`byte ${position} is not among the kept ones`)
  }
}
