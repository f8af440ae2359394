/** A result of a worker that the action cache has kept, for the audit log. */
export interface KeptResult {
  /** Who asked for it first: `token ci`. Absent if that is not recorded. */
  readonly identity: string | undefined
  readonly instance: string
  /** The key of the digest. */
  readonly action: string
  /** Whether everybody reads it, or only the scope of the caller. */
  readonly kept: 'shared' | 'scope'
  /** Of the caller; absent if it is trusted. */
  readonly scope: string | undefined
  readonly worker: string
  readonly workerIdentity: string | undefined
  /** Whether the run could change nothing but its outputs, and had no network. */
  readonly confined: boolean
}
