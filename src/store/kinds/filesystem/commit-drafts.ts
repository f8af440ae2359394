import { internalCall } from '../../../rpc/call.js'
import type { Claimant } from '../../index/promises.js'
import type { Catalog } from './catalog.js'
import { CommitGroup, type Refused } from './commit-group.js'
import { bytesOfDraft, type Draft, readDrafts } from './records/drafts.js'

/**
 * Stores small blobs whose records a service thread has drafted, and keeps them as the call claims. Resolves once those that could be stored
 * are committed and visible, with the others.
 */
export const commitDrafts = async (
  catalog: Catalog,
  drafts: Uint8Array,
  claimant: Claimant,
): Promise<readonly Refused[]> => {
  const group = new CommitGroup(catalog, claimant)
  const busy: (readonly [at: number, draft: Draft])[] = []
  for (const [at, draft] of readDrafts(drafts).entries()) {
    const { digest, storedBytes, checksum } = draft.head
    if (!group.admits(at, digest, storedBytes)) continue
    if (catalog.isCommitting(digest)) busy.push([at, draft])
    else group.begin(at, { digest, storedBytes, checksum, draft: draft.record })
  }
  await group.all()
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
