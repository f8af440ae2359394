import type { Digest } from '../../../reapi/digest.js'
import type { Call } from '../../../rpc/call.js'
import type { Claimant } from '../../index/promises.js'
import type { Catalog } from './catalog.js'
import type { LogEntry, Waits } from './records/record-log.js'

/** A small blob that was not stored. */
export interface Refused {
  /** Its place among those that came with it. */
  readonly at: number
  readonly digest: Digest
  readonly error: unknown
}

/** The content of a small blob, or the record that a service thread has drafted of it. */
export interface SmallContent {
  readonly digest: Digest
  readonly storedBytes: number
  readonly checksum: number
  readonly bytes?: Buffer
  readonly draft?: Buffer
  /** Cancels the blob until its write begins. */
  readonly call?: Call
}

/**
 * Small blobs that are committed together, and kept as the call claims. They share one promise: one for each, and the functions that wait
 * for it, cost more than the commit.
 */
export class CommitGroup {
  readonly catalog: Catalog
  readonly claimant: Claimant
  readonly writtenMs: number
  readonly refused: Refused[] = []
  /** Until `all` is called, one more than there are. */
  #openCount = 1
  #end = (): void => {}
  /** Resolves when all are settled. */
  readonly over = new Promise<void>((resolve) => {
    this.#end = resolve
  })

  constructor(catalog: Catalog, claimant: Claimant) {
    this.catalog = catalog
    this.claimant = claimant
    this.writtenMs = catalog.clock.now()
  }

  /** Whether the blob may begin. Otherwise it is refused. */
  admits(at: number, digest: Digest, storedBytes: number): boolean {
    try {
      this.catalog.expectOpen(digest)
      this.catalog.index.checkRoomFor(digest, storedBytes)
      return true
    } catch (error) {
      this.refused.push({ at, digest, error })
      return false
    }
  }

  /** No commit of its digest may be in flight. */
  begin(at: number, content: SmallContent): void {
    new SmallCommit(this, at, content).begin()
  }

  begun(): void {
    this.#openCount++
  }

  settled(): void {
    if (--this.#openCount === 0) this.#end()
  }

  /** Resolves when all are settled. No further one may begin. */
  async all(): Promise<void> {
    this.settled()
    await this.over
    this.catalog.eviction.start()
  }
}

/** A class, because an object put together from others costs more than what is done with it. */
class SmallCommit implements LogEntry, Waits {
  readonly kind = 'bytes'
  readonly digest: Digest
  readonly storedBytes: number
  readonly checksum: number
  readonly writtenMs: number
  readonly bytes?: Buffer
  readonly draft?: Buffer
  readonly call?: Call
  readonly #group: CommitGroup
  readonly #at: number

  constructor(group: CommitGroup, at: number, { digest, storedBytes, checksum, bytes, draft, call }: SmallContent) {
    this.digest = digest
    this.storedBytes = storedBytes
    this.checksum = checksum
    this.writtenMs = group.writtenMs
    if (bytes !== undefined) this.bytes = bytes
    if (draft !== undefined) this.draft = draft
    if (call !== undefined) this.call = call
    this.#group = group
    this.#at = at
  }

  begin(): void {
    const { catalog, over } = this.#group
    this.#group.begun()
    catalog.commits.begin(this.digest, over)
    catalog.records.push(this, this)
  }

  onLocated(location: number): void {
    const { catalog, claimant } = this.#group
    const slot = catalog.arrive(this.digest, this.kind, this.storedBytes, location)
    catalog.index.holdSlots([slot], claimant)
  }

  settle(failure?: { readonly error: unknown }): void {
    this.#group.catalog.commits.end(this.digest)
    if (failure !== undefined) this.#group.refused.push({ at: this.#at, digest: this.digest, error: failure.error })
    this.#group.settled()
  }
}
