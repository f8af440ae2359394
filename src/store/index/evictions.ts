/** What became of blobs that were evicted, for who watches a store. */
export class Evictions {
  /** Since the start. */
  count = 0
  /** How long the last of them had not been used; undefined as long as none was. */
  lastIdleMs: number | undefined

  /** One more, which was last used at `accessedS`, in whole seconds since the epoch. */
  add(nowMs: number, accessedS: number): void {
    this.count += 1
    this.lastIdleMs = Math.max(0, nowMs - accessedS * 1000)
  }
}
