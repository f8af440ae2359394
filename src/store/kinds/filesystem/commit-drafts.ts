import type { Digest } from '../../../reapi/digest.js'
import { internalCall } from '../../../rpc/call.js'
import type { Claimant } from '../../index/promises.js'
import type { Catalog } from './catalog.js'
import { bytesOfDraft, type Draft, readDrafts } from './records/drafts.js'
import type { LogEntry, Waits } from './records/record-log.js'

/** A small blob that was not stored. */
export interface Refused {
  /** Its place among those that came with it. */
  readonly at: number
  readonly digest: Digest
  readonly error: unknown
}

/**
 * Stores small blobs whose records a service thread has drafted, and keeps them as the call claims. Resolves once those that could be stored
 * are committed and visible, with the others. They share one promise: one for each, and the functions that wait for it, cost more than the
 * commit.
 */
export const commitDrafts = async (
  catalog: Catalog,
  drafts: Uint8Array,
  claimant: Claimant,
): Promise<readonly Refused[]> => {
  const group = new Group(catalog, claimant)
  const busy: (readonly [at: number, draft: Draft])[] = []
  for (const [at, draft] of readDrafts(drafts).entries()) {
    const { digest } = draft.head
    const why = whyNot(catalog, draft)
    if (why !== undefined) group.refused.push({ at, digest, error: why.error })
    else if (catalog.isCommitting(digest)) busy.push([at, draft])
    else new DraftCommit(group, at, draft).begin()
  }
  await group.all()
  catalog.eviction.start()
  // What these wait for may have been among the others.
  for (const [at, draft] of busy) {
    const { digest } = draft.head
    try {
      await catalog.commit(digest, bytesOfDraft(draft), internalCall(claimant))
    } catch (error) {
      group.refused.push({ at, digest, error })
    }
  }
  return group.refused
}

/** Blobs that are committed together. */
class Group {
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

  begun(): void {
    this.#openCount++
  }

  settled(): void {
    if (--this.#openCount === 0) this.#end()
  }

  /** No further one may begin. */
  all(): Promise<void> {
    this.settled()
    return this.over
  }
}

/** A class, because an object put together from others costs more than what is done with it. */
class DraftCommit implements LogEntry, Waits {
  readonly kind = 'bytes'
  readonly digest: Digest
  readonly storedBytes: number
  readonly checksum: number
  readonly writtenMs: number
  readonly draft: Buffer
  readonly #group: Group
  readonly #at: number

  constructor(group: Group, at: number, { head, record }: Draft) {
    this.digest = head.digest
    this.storedBytes = head.storedBytes
    this.checksum = head.checksum
    this.writtenMs = group.writtenMs
    this.draft = record
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

const whyNot = (catalog: Catalog, { head }: Draft): { readonly error: unknown } | undefined => {
  try {
    catalog.expectOpen(head.digest)
    catalog.index.checkRoomFor(head.digest, head.storedBytes)
  } catch (error) {
    return { error }
  }
  return undefined
}
