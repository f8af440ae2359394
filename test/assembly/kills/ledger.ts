/** What a server has acknowledged for one instance, the last first to be sure of. */
import type { Acknowledged, Found, Target } from './uploads.js'
import type { World } from './worlds.js'

/** Of results, whose sizes in a store are not known: far fewer than fit. */
const SURE_RESULTS = 12
/** Older ones that are read after a kill: they may be gone, but not wrong. */
const OLDER = 5
/** Remembered. */
const MAX = 1000

export interface Seen {
  /** Acknowledged, not evicted, and not there. */
  lost: number
  /** Other bytes. */
  wrong: number
  /** A value that was replaced before. */
  stale: number
  /** Said to be there, and not there. */
  promised: number
  /** Older ones that were evicted. */
  evicted: number
  read: number
}

export const nothingSeen = (): Seen => ({ lost: 0, wrong: 0, stale: 0, promised: 0, evicted: 0, read: 0 })
export const FAULTS = ['lost', 'wrong', 'stale', 'promised'] as const

export class AcknowledgedUploads {
  readonly #world: World
  #all: Acknowledged[] = []
  #turn = 0

  constructor(world: World) {
    this.#world = world
  }

  add(items: readonly Acknowledged[]): void {
    this.#all.push(...items)
    if (this.#all.length > 2 * MAX) this.#all = this.#all.slice(-MAX)
  }

  /** An older one that can be uploaded again; it then counts as the newest. */
  takeOlder(): Acknowledged | undefined {
    const at = this.#all.findIndex(({ again }, index) => again !== undefined && (index + this.#turn) % 3 === 0)
    this.#turn += 1
    return at === -1 ? undefined : this.#all.splice(at, 1)[0]
  }

  async check(target: Target, seen: Seen, tell: (fault: string) => void): Promise<void> {
    const sure = this.#sure()
    const older = this.#all.filter((one) => !sure.has(one))
    const some = older.filter((_, at) => (at * OLDER) % older.length < OLDER)
    // The newest are used last, so that they stay the newest.
    for (const one of [...some, ...sure]) {
      const found: Found = await one.read(target)
      seen.read += 1
      if (found === 'right') continue
      if (found === 'absent' && !sure.has(one)) seen.evicted += 1
      else {
        const fault = found === 'absent' ? 'lost' : found
        seen[fault] += 1
        tell(`${this.#world.name}: ${one.of} of ${one.sizeBytes} bytes is ${fault}`)
      }
    }
  }

  /** In the order of their uploads. A result is found only while its output is. */
  #sure(): ReadonlySet<Acknowledged> {
    let [bytes, results] = [this.#world.sureBytes, SURE_RESULTS]
    const sure: Acknowledged[] = []
    for (const one of this.#all.toReversed()) {
      bytes -= one.sizeBytes
      if (bytes < 0) break
      if (one.of === 'cas' || results-- > 0) sure.push(one)
    }
    return new Set(sure.reverse())
  }
}
