/** What a leader says of its term. */
export interface ToldTerm {
  /** 0 where a scheduler has no other servers. */
  readonly epoch: number
  readonly termKey: string
  /** Of the server; '' if it does not say. */
  readonly leaderId: string
}

/** A counter that was lost while no server was there begins anew: a worker that met nobody else for so long believes it. */
const FORGET_MS = 60_000

/** The highest term of a leader that a worker has heard of, where several servers have one queue. */
export class HeardTerm {
  #epoch = 0
  #termKey = ''
  #leaderId = ''
  /** Since when only leaders of lower terms, or others of the same one, have come. */
  #refusedMs: number | undefined

  get epoch(): number {
    return this.#epoch
  }

  /** Proves to other leaders that there was such a term. */
  get termKey(): string {
    return this.#termKey
  }

  /** False for a leader of an earlier term, or another one of this term: it has no say. */
  accept({ epoch, termKey, leaderId }: ToldTerm, nowMs: number): boolean {
    const isOther = epoch === this.#epoch && leaderId !== '' && this.#leaderId !== '' && leaderId !== this.#leaderId
    if (epoch !== 0 && (epoch < this.#epoch || isOther)) {
      this.#refusedMs ??= nowMs
      if (nowMs - this.#refusedMs < FORGET_MS) return false
    }
    this.#refusedMs = undefined
    this.#epoch = epoch
    this.#termKey = termKey
    this.#leaderId = leaderId
    return true
  }
}
