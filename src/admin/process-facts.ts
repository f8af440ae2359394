/** A build, as lists show it. */
export interface ListedBuild {
  readonly id: string
  readonly instance: string
  readonly startedMs: number
}

/** A store that keeps blobs itself. */
export interface StoreStatus {
  /** The name of the store, and where it is in it: `CAS/fast`. */
  readonly name: string
  readonly sizeBytes: number
  /** Undefined without a limit. */
  readonly maxBytes: number | undefined
  readonly blobs: number
}

export interface ProcessStatus {
  readonly version: string
  readonly startedMs: number
  readonly nowMs: number
  /** `healthy`, `degraded`, `starting` or `not healthy`, and the reasons, worst first. */
  readonly health: string
  readonly reasons: readonly string[]
  readonly stores: readonly StoreStatus[]
  /** Operations that ended since the start, by result. */
  readonly results: Readonly<Record<string, number>>
  readonly builds: { readonly kept: number; readonly running: number }
}

/** What the process knows about itself. */
export interface ProcessFacts {
  status(): ProcessStatus
  /** Every build of the instances that may be read. */
  builds(mayRead: (instance: string) => boolean): Promise<readonly ListedBuild[]>
}
