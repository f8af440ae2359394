import type { Call } from '../base/call.js'
import { COMPRESSOR_BYTES, WINDOW_BYTES } from '../base/ledger/kinds.js'
import type { Reservation } from '../base/ledger/reservation.js'

/** Resolves once there is room for the window of one more decompressor. Undefined where nothing is counted. */
export const windowFor = (call: Call): Promise<Reservation | undefined> => reserved(call, WINDOW_BYTES)

/** As `windowFor`, for the blobs of a batch that are decoded by a stage: no more than MAX_WINDOWS are at a time. */
export const windowsFor = (call: Call, count: number): Promise<Reservation | undefined> =>
  reserved(call, Math.min(count, MAX_WINDOWS) * WINDOW_BYTES)

/** Of a batch. The contents of a batch are 4 MiB together, so more than a few windows are never full. */
const MAX_WINDOWS = 8

/** As `windowFor`, of a compressor. */
export const compressorFor = (call: Call): Promise<Reservation | undefined> => reserved(call, COMPRESSOR_BYTES)

const reserved = async (call: Call, sizeBytes: number): Promise<Reservation | undefined> =>
  call.held?.ledger.kinds.windows.whenRoom(call.held.holder, sizeBytes, call.signal)
