/** A server that may lead a scheduler. */
export interface Candidate {
  /** Made anew at each start. */
  readonly id: string
  /** Where the other servers reach it. */
  readonly address: string
  /** The settings of its scheduler, by name: servers with other ones do not share a queue. */
  readonly settings: Readonly<Record<string, string>>
}

/** What a candidate says with each call. */
export interface Campaign {
  readonly candidate: Candidate
  /**
   * The highest term it has heard of. A new one is higher, also if the engine has forgotten its counter. A lease of a lower term is
   * void, whoever has it.
   */
  readonly highestEpoch: number
  /** What it knows of the secret of the servers, or one of its own for the engine that has none. */
  readonly secret: string
  readonly leaseMs: number
  /** Whether it takes a lease that nobody has. If not, it gives back the one that it has. */
  readonly mayLead: boolean
}

/** The office of a leader: from its election until somebody else is elected. */
export interface Term {
  /** Grows with each election. */
  readonly epoch: number
  readonly leader: Candidate
}

export interface Decision {
  readonly term: Term | undefined
  /** The candidates that have called within their last leases, the caller among them. */
  readonly memberIds: readonly string[]
  /** Known to the servers only. Keys that prove the ids of workers are made of it. */
  readonly secret: string
}

/**
 * What several servers agree by who leads: a lease, a counter that only grows, and the members. Nothing else is kept there, and
 * nothing is asked for an action. It may lose everything at any time: then somebody is elected again.
 */
export interface Engine {
  /** For messages: `Redis at host:port`. */
  readonly name: string
  /** Takes the lease if nobody has it, renews it if the candidate has it, and says who has it. Rejects if it cannot be reached. */
  campaign(campaign: Campaign, signal: AbortSignal): Promise<Decision>
  /** Gives the lease back if the candidate has it, and takes it off the members. */
  resign(candidateId: string, signal: AbortSignal): Promise<void>
  /** What would let it forget a lease too soon; undefined if nothing. */
  warning(signal: AbortSignal): Promise<string | undefined>
  close(): Promise<void>
}
