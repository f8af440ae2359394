import { isStatus, StatusError } from '../../base/status-error.js'
import { type BlobFiles, type BlobLease, missingOf, type Store } from '../../blobs/store.js'
import type { Reservation } from '../../ledger/reservation.js'
import { missingBlobs } from '../../reapi/action.js'
import type { Digest } from '../../reapi/digest.js'
import type { Call } from '../../rpc/call.js'
import { allOf } from '../../work/all-of.js'
import { boundedMap, LANES } from '../../work/bounded-map.js'
import type { InputTree } from './merkle-tree.js'

/** Small blobs are fetched many at a time, because stores read them in batches from other servers. */
const SMALL_BYTES = 64 * 1024

/** How many blobs are fetched at a time. */
interface Lanes {
  readonly small: number
  readonly large: number
}

/** At most 16 MiB of small blobs, the share of an attempt in the ledger. */
const ALL_LANES: Lanes = { small: 256, large: LANES }

/** A blob may be evicted between its arrival and its lease. After so many rounds the store is considered too small. */
const MAX_ROUNDS = 3

/**
 * Fetches every blob of the tree into the local store and leases it until released. Rejects with FAILED_PRECONDITION
 * listing all blobs of the tree that exist nowhere. Calls `onFetch` when something has to be fetched.
 */
export const leaseInputs = async (
  tree: Pick<InputTree, 'blobs' | 'missing'>,
  store: Store,
  call: Call,
  onFetch: () => void = () => {},
): Promise<Pick<BlobLease, 'release'>> => {
  const { files } = store
  // Every store has the empty blob, which is the root directory of an action without inputs.
  const blobs = tree.blobs.filter(({ sizeBytes }) => sizeBytes > 0)
  if (files === undefined || blobs.length === 0) {
    rejectMissing(tree, blobs.length === 0 ? [] : await missingOf(store, blobs, call))
    return { release: () => {} }
  }
  const lease = await files.lease(blobs, call)
  try {
    rejectMissing(tree, await missingOf(store, lease.missing, call))
    let absent = lease.missing
    for (let round = 0; absent.length > 0; round++) {
      if (round === MAX_ROUNDS) throw tooSmall(absent)
      onFetch()
      await fetchBlobs(absent, files, call)
      absent = await lease.extend(absent)
    }
    return lease
  } catch (error) {
    lease.release()
    throw error
  }
}

const rejectMissing = (tree: Pick<InputTree, 'missing'>, missing: readonly Digest[]): void => {
  const all = new Map([...tree.missing, ...missing].map((digest) => [digest.key, digest]))
  if (all.size > 0) throw missingBlobs([...all.values()])
}

/**
 * Fetches absent blobs into the local store. Those that exist nowhere are tried all, then the promise rejects with
 * FAILED_PRECONDITION. Small blobs wait for room in the ledger if the call has one.
 */
export const fetchBlobs = async (
  digests: readonly Digest[],
  files: BlobFiles,
  call: Call,
  lanes = ALL_LANES,
): Promise<void> => {
  const lost: Digest[] = []
  const fetch = async (digest: Digest): Promise<void> => {
    try {
      await files.populate(digest, call)
    } catch (error) {
      if (!isStatus(error, 'NOT_FOUND')) throw error
      lost.push(digest)
    }
  }
  const small = digests.filter(({ sizeBytes }) => sizeBytes <= SMALL_BYTES)
  const large = digests.filter(({ sizeBytes }) => sizeBytes > SMALL_BYTES)
  const fetchSmall = async (): Promise<void> => {
    const held = await roomFor(small, lanes.small, call)
    try {
      await boundedMap(small, lanes.small, fetch)
    } finally {
      held?.release()
    }
  }
  await allOf<unknown>([fetchSmall(), boundedMap(large, lanes.large, fetch)])
  if (lost.length > 0) throw missingBlobs(lost)
}

/** Room for what is in flight at one time. */
const roomFor = async (
  small: readonly Digest[],
  lanes: number,
  { held, signal }: Call,
): Promise<Reservation | undefined> => {
  if (held === undefined || small.length === 0) return undefined
  const { inputs } = held.ledger.kinds
  const largest = small.reduce((most, { sizeBytes }) => Math.max(most, sizeBytes), 0)
  const inFlight = Math.min(lanes, small.length) * largest
  return inputs.whenRoom(held.holder, Math.min(inFlight, inputs.boundOf(held.holder)), signal)
}

const tooSmall = (absent: readonly Digest[]): StatusError => {
  const message = `the worker's store evicts the inputs while they arrive: ${absent.length} of them are gone again`
  return new StatusError('RESOURCE_EXHAUSTED', `${message}, expected a fast store that holds the inputs of an action`)
}
