import type { LruCache } from '../../../base/lru-cache.js'
import type { Digest } from '../../../reapi/digest.js'
import type { Claimant } from '../../index/promises.js'
import type { VerifiedTimes } from './files/verified-times.js'
import type { Located } from './located.js'
import type { Packed, Packs } from './packs/packs.js'
import type { RecordLog } from './records/record-log.js'

/** A small blob in memory. Records are immutable, so it is valid as long as the index has the same location. */
export interface RecentRecord {
  readonly location: number
  readonly bytes: Buffer
}

/** What is wrong with a blob: its file is gone or has another length, or its bytes have changed. */
export type Wrong = 'gone' | 'damaged'

/** What reads need of the blobs on disk: those of this thread, or of the thread that owns them. */
export interface ReadCatalog {
  readonly records: Pick<RecordLog, 'read' | 'readHead' | 'readPacked'>
  readonly packs: Packs
  readonly verifiedTimes: VerifiedTimes
  /** Small blobs read recently, by digest key. */
  readonly recent: LruCache<RecentRecord>
  /** Locates a blob, which counts as a use by a call. Throws NOT_FOUND. */
  locate(digest: Digest, claimant?: Claimant): Located
  /** Whether a located blob was neither replaced nor removed since. */
  isThere(located: Located): boolean
  /** Whether a located blob was neither replaced nor removed since, and no commit of it is known to be in flight. */
  isAsLocated(located: Located): boolean
  isCommitting(digest: Digest): boolean
  /** Where a packed blob is. Undefined if its record is damaged. */
  placeOf(located: Located): Promise<Packed | undefined>
  /** Whether the bytes of a packed blob are known to be intact. Its pack is in use. */
  isVerified(located: Located): boolean
  verified(located: Located): void
  /** Notes that the key of a blob is the hash of its content, where that is not known yet. */
  noteHash(located: Located): void
  /** Drops a blob whose file or record turned out to be wrong, if it is still as it was located. */
  dropDamaged(located: Located, why: Wrong): Promise<void>
}
