import type { Worker } from '../state/state.js'
import type { WarmKey } from './keys.js'

/** Of one worker. The oldest go first. */
const MAX_KEYS = 10_000
const MAX_KEY_CHARACTERS = 300
/** Of a key that very many workers hold: more are not looked at for one action. */
const MAX_HOLDERS = 64

/** Which workers hold what warm: what they fetched or started for an action, and have ready for the next one. */
export class Holders {
  readonly #of = new Map<string, Set<Worker>>()

  /** What the worker holds since it told last, and what it holds no more. */
  told(worker: Worker, added: readonly string[], dropped: readonly string[] = []): void {
    for (const key of dropped) this.#drop(worker, key)
    for (const key of added) {
      if (key === '' || key.length > MAX_KEY_CHARACTERS) continue
      worker.warm.delete(key)
      worker.warm.add(key)
      const holders = this.#of.get(key) ?? new Set()
      this.#of.set(key, holders.add(worker))
      const [oldest] = worker.warm
      if (worker.warm.size > MAX_KEYS && oldest !== undefined) this.#drop(worker, oldest)
    }
  }

  /** The worker is gone. */
  forget(worker: Worker): void {
    for (const key of worker.warm) this.#drop(worker, key)
  }

  /** Those that hold one of the keys, the holders of the first key first; each once for each key, some of very many. */
  *of(keys: readonly WarmKey[]): Iterable<Worker> {
    for (const { key } of keys) {
      let count = 0
      for (const worker of this.#of.get(key) ?? []) {
        if (++count > MAX_HOLDERS) break
        yield worker
      }
    }
  }

  #drop(worker: Worker, key: string): void {
    worker.warm.delete(key)
    const holders = this.#of.get(key)
    holders?.delete(worker)
    if (holders?.size === 0) this.#of.delete(key)
  }
}

/** How much of what these keys name a worker holds: the sum of their worths. */
export const warmthOf = ({ warm }: Worker, keys: readonly WarmKey[]): number => {
  let sum = 0
  if (warm.size > 0) for (const { key, worth } of keys) if (warm.has(key)) sum += worth
  return sum
}
