import type { Reservation } from '../ledger/reservation.js'
import type { Call } from '../rpc/call.js'
import { COMPRESSOR_BYTES, WINDOW_BYTES } from '../stream/compression/compression.js'

/** Memory for decompressors of what a client sends. Only this file makes one, so none is made without a reservation. */
export class Windows {
  readonly #reservation: Reservation | undefined

  private constructor(reservation: Reservation | undefined) {
    this.#reservation = reservation
  }

  /** Resolves once the ledger has room for one more decompressor window. Nothing is reserved for a call without a ledger. */
  static one(call: Call): Promise<Windows> {
    return Windows.several(call, 1)
  }

  /** Like `one`, for the `count` large compressed blobs of a batch. Reserves at most MAX_WINDOWS windows. */
  static async several(call: Call, count: number): Promise<Windows> {
    return new Windows(await reserved(call, Math.min(count, MAX_WINDOWS) * WINDOW_BYTES))
  }

  release(): void {
    this.#reservation?.release()
  }
}

/** Maximum number of windows of a batch. A batch has at most 4 MiB in total, so only a few windows are ever full. */
const MAX_WINDOWS = 8

/** Resolves once the ledger has room for one more compressor. Undefined if the call has no ledger. */
export const compressorFor = (call: Call): Promise<Reservation | undefined> => reserved(call, COMPRESSOR_BYTES)

const reserved = async (call: Call, sizeBytes: number): Promise<Reservation | undefined> =>
  call.held?.ledger.kinds.windows.whenRoom(call.held.holder, sizeBytes, call.signal)
