import { COMPRESSOR_BYTES, WINDOW_BYTES } from '../ledger/kinds.js'
import type { Reservation } from '../ledger/reservation.js'
import type { Call } from '../rpc/call.js'

/** Resolves once the ledger has room for one more decompressor window. Undefined if the call has no ledger. */
export const windowFor = (call: Call): Promise<Reservation | undefined> => reserved(call, WINDOW_BYTES)

/** Like `windowFor`, for the `count` large compressed blobs of a batch. Reserves at most MAX_WINDOWS windows. */
export const windowsFor = (call: Call, count: number): Promise<Reservation | undefined> =>
  reserved(call, Math.min(count, MAX_WINDOWS) * WINDOW_BYTES)

/** Maximum number of windows of a batch. A batch has at most 4 MiB in total, so only a few windows are ever full. */
const MAX_WINDOWS = 8

/** Like `windowFor`, for a compressor. */
export const compressorFor = (call: Call): Promise<Reservation | undefined> => reserved(call, COMPRESSOR_BYTES)

const reserved = async (call: Call, sizeBytes: number): Promise<Reservation | undefined> =>
  call.held?.ledger.kinds.windows.whenRoom(call.held.holder, sizeBytes, call.signal)
