import { stat } from 'node:fs/promises'
import { setImmediate } from 'node:timers/promises'
import { ascending } from '../index/order.js'
import { errnoOf } from './file-error.js'
import { type Shelf, secondsOf, UNKNOWN_MARK } from './shelf.js'

export const UNKNOWN_MTIME = -1

/** Between two breaths. */
const SLICE = 500
const CHUNK = 1 << 14

/**
 * Blobs a scan found which the checkpoint did not know: when they were written stands for when they were last used.
 * One file is looked at at a time, because nobody waits for it.
 */
export class Found {
  /** In chunks: an array of a million numbers that grows holds everything up for 17 ms while it is copied. */
  readonly #slots: Int32Array[] = []
  readonly #mtimesMs: Float64Array[] = []
  #count = 0

  add(slot: number, mtimeMs: number): void {
    const at = this.#count++ % CHUNK
    if (at === 0) {
      this.#slots.push(new Int32Array(CHUNK))
      this.#mtimesMs.push(new Float64Array(CHUNK))
    }
    const last = this.#slots.length - 1
    ;(this.#slots[last] as Int32Array)[at] = slot
    ;(this.#mtimesMs[last] as Float64Array)[at] = mtimeMs
  }

  /** Makes them recent in the order they were written; those used meanwhile stay where they are. */
  async order(shelf: Shelf, isStopped: () => boolean): Promise<void> {
    const { index } = shelf
    const writtenS = new Uint32Array(this.#count)
    for (let at = 0; at < this.#count; at++) {
      if (isStopped()) return
      const knownMs = valueAt(this.#mtimesMs, at)
      writtenS[at] = knownMs === UNKNOWN_MTIME ? await learn(shelf, valueAt(this.#slots, at)) : secondsOf(knownMs)
      if (at % SLICE === SLICE - 1) await setImmediate()
    }
    const order = await ascending(writtenS)
    for (const [count, at] of order.entries()) {
      if (isStopped()) return
      const slot = valueAt(this.#slots, at)
      if (index.holds(slot) && index.accessedOf(slot) === writtenS[at]) index.touch(slot, writtenS[at])
      if (count % SLICE === SLICE - 1) await setImmediate()
    }
  }
}

const valueAt = (chunks: readonly (Int32Array | Float64Array)[], at: number): number =>
  chunks[Math.floor(at / CHUNK)]?.[at % CHUNK] as number

/** When the file of a found blob was written, in seconds; 0 when the blob was used, replaced or removed since. */
const learn = async (shelf: Shelf, slot: number): Promise<number> => {
  const { index, layout } = shelf
  if (!index.holds(slot) || index.extraOf(slot) !== UNKNOWN_MARK) return 0
  const digest = index.digestOf(slot)
  const storedBytes = index.storedBytesOf(slot)
  const accessedS = index.accessedOf(slot)
  const located = { digest, slot, storedBytes, mark: 0, path: layout.blobPath(digest, storedBytes) }
  const stats = await stat(located.path).catch((error: unknown) => {
    if (errnoOf(error) === 'ENOENT') return undefined
    throw error
  })
  if (stats === undefined || !shelf.accepts(located, stats)) {
    await shelf.heal(located)
    return 0
  }
  if (!shelf.isAsLocated({ ...located, mark: index.extraOf(slot) }) || index.accessedOf(slot) !== accessedS) return 0
  index.touch(slot, secondsOf(stats.mtimeMs))
  return secondsOf(stats.mtimeMs)
}
