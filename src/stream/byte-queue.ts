/** Regroups chunks into portions of other sizes. Copies only portions that cross a chunk border. */
export class ByteQueue {
  readonly #chunks: Buffer[] = []
  #sizeBytes = 0

  get sizeBytes(): number {
    return this.#sizeBytes
  }

  add(chunk: Buffer): void {
    if (chunk.length === 0) return
    this.#chunks.push(chunk)
    this.#sizeBytes += chunk.length
  }

  /** Removes and returns the next bytes; `wantedBytes` must not exceed `sizeBytes`. */
  take(wantedBytes: number): Buffer {
    this.#sizeBytes -= wantedBytes
    const [first] = this.#chunks
    if (first !== undefined && first.length > wantedBytes) {
      this.#chunks[0] = first.subarray(wantedBytes)
      return first.subarray(0, wantedBytes)
    }
    if (first !== undefined && first.length === wantedBytes) {
      this.#chunks.shift()
      return first
    }
    return this.#gather(wantedBytes)
  }

  clear(): void {
    this.#chunks.length = 0
    this.#sizeBytes = 0
  }

  #gather(wantedBytes: number): Buffer {
    const bytes = Buffer.allocUnsafe(wantedBytes)
    let filledBytes = 0
    let used = 0
    for (const chunk of this.#chunks) {
      const copiedBytes = chunk.copy(bytes, filledBytes)
      filledBytes += copiedBytes
      if (copiedBytes < chunk.length) {
        this.#chunks[used] = chunk.subarray(copiedBytes)
        break
      }
      used += 1
    }
    this.#chunks.splice(0, used)
    return bytes
  }
}
