/** The arrays an index consists of, as they are kept across restarts. Living arrays: who lets time pass copies them. */
export interface IndexImage {
  readonly slotCount: number
  /** First of the slots that are free, as a list through their records. */
  readonly free: number
  readonly oldest: number
  readonly newest: number
  readonly seed: number
  readonly chunks: readonly Int32Array[]
  /** Parallel to `chunks`: the rest of long hashes, where there are any. */
  readonly tails: readonly (Int32Array | undefined)[]
  readonly partitions: readonly Int32Array[]
  /** Parallel to `partitions`: how many entries are used. */
  readonly counts: Int32Array
}
