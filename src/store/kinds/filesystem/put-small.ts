import { crc32 } from 'node:zlib'
import { StatusError } from '../../../base/status-error.js'
import { type BlobEntry, type Outcomes, outcomeOf } from '../../../blobs/store.js'
import type { Digest } from '../../../reapi/digest.js'
import { type Call, cancelledBy } from '../../../rpc/call.js'
import { allOf } from '../../../work/all-of.js'
import type { Catalog } from './catalog.js'
import { CommitGroup } from './commit-group.js'
import { keyFor } from './located.js'

interface PutOne {
  put(digest: Digest, blob: BlobEntry['blob'], call: Call): Promise<void>
  /** Notes a failed write; gives the error for the caller. */
  tell(digest: Digest, thrown: unknown): StatusError
}

/**
 * Puts small blobs of one call down to the log in one go. By itself each takes a dozen promises from here to there, which cost more than
 * its hash. A blob that is not bytes in memory, or whose digest is being committed, is put by itself.
 */
export const putSmall = async (
  catalog: Catalog,
  entries: readonly BlobEntry[],
  call: Call,
  one: PutOne,
): Promise<Outcomes> => {
  const outcomes: Outcomes[number][] = new Array(entries.length)
  const cancelled = cancelledBy(call)
  if (cancelled !== undefined) {
    for (const { blob } of entries) blob.discard()
    return outcomes.fill(StatusError.from(cancelled))
  }
  const group = new CommitGroup(catalog, call)
  const others: Promise<void>[] = []
  const note = (at: number, work: Promise<StatusError | undefined>): void => {
    others.push(
      work.then((failure) => {
        outcomes[at] = failure
      }),
    )
  }
  for (const [at, { digest, blob }] of entries.entries()) {
    const key = keyFor(digest, blob)
    if (catalog.isCommitting(key) || !catalog.index.fits(blob.sizeBytes ?? 0)) {
      note(at, outcomeOf(one.put(digest, blob, call)))
      continue
    }
    if (!group.admits(at, key, blob.sizeBytes ?? 0)) {
      blob.discard()
      continue
    }
    const bytes = blob.checkedBytes()
    if (bytes === undefined) note(at, outcomeOf(one.put(digest, blob, call)))
    else if (Buffer.isBuffer(bytes))
      group.begin(at, { digest: key, storedBytes: bytes.length, checksum: crc32(bytes), bytes, call })
    else note(at, outcomeOf(bytes.then(() => {})))
  }
  await allOf([group.all(), ...others])
  for (const { at, digest, error } of group.refused) outcomes[at] = one.tell(digest, error)
  return outcomes
}
