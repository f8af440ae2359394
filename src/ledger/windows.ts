import type { HeldFor } from './ledger.js'
import type { Reservation } from './reservation.js'

/** A blob that nobody has taken yet. */
export interface UntakenBlob {
  /** What its stages hold while it is read, for windows. */
  readonly windowBytes: number
  discard(): void
}

/**
 * Resolves once the ledger has room for what the stages of a blob hold while a client takes it; undefined if nothing needs to be
 * reserved. If there is no room before `signal` aborts, the blob is discarded and the promise rejects. For every door that lets a client
 * set the pace of a read.
 */
export const windowsOf = async (
  blob: UntakenBlob,
  held: HeldFor | undefined,
  signal: AbortSignal,
): Promise<Reservation | undefined> => {
  if (blob.windowBytes === 0 || held === undefined) return undefined
  try {
    return await held.ledger.kinds.windows.whenRoom(held.holder, blob.windowBytes, signal)
  } catch (error) {
    blob.discard()
    throw error
  }
}
