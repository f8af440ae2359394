import { StatusError } from '../../../../base/status-error.js'
import type { BlobFile } from '../../../../stream/blob/file.js'
import type { Pack } from './pack.js'
import type { Packs } from './packs.js'

interface PackPartOptions {
  readonly packs: Packs
  /** In use until the part is closed. */
  readonly pack: Pack
  readonly key: string
  /** In the pack. */
  readonly offset: number
  readonly sizeBytes: number
  readonly bufferBytes: number
  /** Called when the file ends before the blob does. */
  onTorn(): void
}

/** A range of a file of several blobs: of one of them, or of some that lie side by side. */
export class PackPart implements BlobFile {
  readonly sizeBytes: number
  readonly bufferBytes: number
  readonly #options: PackPartOptions
  #isOpen = true

  constructor(options: PackPartOptions) {
    this.sizeBytes = options.sizeBytes
    this.bufferBytes = options.bufferBytes
    this.#options = options
  }

  async read(into: Buffer, position: number): Promise<number> {
    const { pack, key, offset, onTorn } = this.#options
    const wanted = into.subarray(0, Math.min(into.length, this.sizeBytes - position))
    const bytesRead = await pack.read(wanted, offset + position)
    if (bytesRead > 0) return bytesRead
    onTorn()
    throw new StatusError('DATA_LOSS', `blob ${key} was cut short while it was read`)
  }

  async close(): Promise<void> {
    const { packs, pack } = this.#options
    if (this.#isOpen) packs.release(pack)
    this.#isOpen = false
  }
}
