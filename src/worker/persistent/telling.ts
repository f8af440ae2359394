import type { Input } from '../../proto/codec.js'
import { PersistentWorkerEventsKind as Kind } from '../../proto/generated/remexec.worker.v1.js'
import { Soon } from '../soon.js'
import type { Counts } from './counts.js'
import type { Pool } from './pool.js'

type Told = Input<'remexec.worker.v1.PersistentWorkers'>

/** Processes change faster than anybody looks. */
const WITHIN_MS = 250

/** Tells the scheduler how many persistent workers there are, and what happened to them since it was told last. */
export class Telling {
  readonly #pool: Pool
  /** Returns false if there is no connection. */
  readonly #send: (message: { readonly persistentWorkers: Told }) => boolean
  readonly #soon = new Soon(() => this.#tell(), WITHIN_MS)
  #told = new Map<string, number>()

  constructor(pool: Pool, send: (message: { readonly persistentWorkers: Told }) => boolean) {
    this.#pool = pool
    this.#send = send
  }

  /** Call it when something may have changed, and on each connection: whoever is there then may know nothing. */
  changed(): void {
    this.#soon.ask()
  }

  close(): void {
    this.#soon.close()
  }

  #tell(): void {
    const { processes, idleCount: idle, residentBytes, counts } = this.#pool
    const now = eventsOf(counts)
    const events = [...now].flatMap(([key, { count, kind, reason }]) => {
      const more = count - (this.#told.get(key) ?? 0)
      return more > 0 ? [{ kind, reason, count: more }] : []
    })
    const persistentWorkers = { idle, busy: processes.length - idle, residentBytes, events }
    if (!this.#send({ persistentWorkers })) return
    this.#told = new Map([...now].map(([key, { count }]) => [key, count]))
  }
}

const eventsOf = ({ reused, started, retried, fallbacks, ends }: Counts) => {
  const all = [
    { kind: Kind.REUSED, reason: '', count: reused },
    { kind: Kind.STARTED, reason: '', count: started },
    { kind: Kind.RETRIED, reason: '', count: retried },
    ...Object.entries(fallbacks).map(([reason, count]) => ({ kind: Kind.FELL_BACK, reason, count })),
    ...Object.entries(ends).map(([reason, count]) => ({ kind: Kind.ENDED, reason, count })),
  ]
  return new Map(all.map((event) => [`${event.kind} ${event.reason}`, event]))
}
