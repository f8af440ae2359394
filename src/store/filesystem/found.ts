import { stat } from 'node:fs/promises'
import { setImmediate } from 'node:timers/promises'
import { ascending } from '../index/order.js'
import { errnoOf } from './file-error.js'
import { type Shelf, UNKNOWN_MARK } from './shelf.js'

export const UNKNOWN_MTIME = -1

/** Between two breaths. */
const SLICE = 500

/** Rounded up, as every last use. */
export const secondsOf = (mtimeMs: number): number => Math.ceil(mtimeMs / 1000)

/**
 * Blobs a scan found which the checkpoint did not know: when they were written stands for when they were last used.
 * One file is looked at at a time, because nobody waits for it.
 */
export class Found {
  readonly #slots: number[] = []
  readonly #mtimesMs: number[] = []

  add(slot: number, mtimeMs: number): void {
    this.#slots.push(slot)
    this.#mtimesMs.push(mtimeMs)
  }

  /** Makes them recent in the order they were written; those used meanwhile stay where they are. */
  async order(shelf: Shelf, isStopped: () => boolean): Promise<void> {
    const { index } = shelf
    const writtenS = new Uint32Array(this.#slots.length)
    for (const [at, slot] of this.#slots.entries()) {
      if (isStopped()) return
      const knownMs = this.#mtimesMs[at] as number
      writtenS[at] = knownMs === UNKNOWN_MTIME ? await learn(shelf, slot) : secondsOf(knownMs)
      if (at % SLICE === SLICE - 1) await setImmediate()
    }
    const order = await ascending(writtenS)
    for (const [count, at] of order.entries()) {
      if (isStopped()) return
      const slot = this.#slots[at] as number
      if (index.holds(slot) && index.accessedOf(slot) === writtenS[at]) index.touch(slot, writtenS[at])
      if (count % SLICE === SLICE - 1) await setImmediate()
    }
  }
}

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
