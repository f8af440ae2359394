/** What a leader says of its term. */
export interface ToldTerm {
  /** 0 where a scheduler has no other servers. */
  readonly epoch: number
  readonly termKey: string
}

/** A counter that was lost while no server was there begins anew: a worker that met nobody else for so long believes it. */
const FORGET_MS = 60_000

/** The highest term of a leader that a worker has heard of, where several servers have one queue. */
export class HeardTerm {
  #epoch = 0
  #termKey = ''
  /** Since when only leaders of lower terms have come. */
  #refusedMs: number | undefined

  get epoch(): number {
    return this.#epoch
  }

  /** Proves to other leaders that there was such a term. */
  get termKey(): string {
    return this.#termKey
  }

  /** False for a leader of an earlier term: it has no say any more. */
  accept({ epoch, termKey }: ToldTerm, nowMs: number): boolean {
    if (epoch !== 0 && epoch < this.#epoch) {
      this.#refusedMs ??= nowMs
      if (nowMs - this.#refusedMs < FORGET_MS) return false
    }
    this.#refusedMs = undefined
    this.#epoch = epoch
    this.#termKey = termKey
    return true
  }
}
