import { LARGE_BYTES } from '../../base/lent-buffers.js'
import { HttpError } from '../../http/answer.js'
import type { Holder } from '../../ledger/holder.js'
import type { Call } from '../../rpc/call.js'

/** Of a store: the most that the clients of one address may have on their way to it. */
const ADDRESS_SHARE = 3 / 4

/** One body of unknown length. */
export interface UnknownLength {
  /** Counts bytes that came, decoded. Throws if they are more than there is room for. */
  take(sizeBytes: number): void
  /** The body is stored, or has failed. */
  end(): void
}

/**
 * Bodies whose clients do not say how long they are: chunked ones, and compressed ones. They wait on disk for their end, so
 * all together may have no more bytes than their store may. Short ones are in memory, and not counted.
 */
export class UnknownLengths {
  readonly #bytesOf = new Map<Holder | undefined, number>()
  #bytes = 0

  get bytes(): number {
    return this.#bytes
  }

  /** `storeBytes`: of the largest blob that the store takes. */
  begin(storeBytes: number, { held }: Call): UnknownLength {
    const holder = held?.holder.parent ?? held?.holder
    const addressBytes = ADDRESS_SHARE * storeBytes
    let receivedBytes = 0
    let countedBytes = 0
    return {
      take: (sizeBytes) => {
        receivedBytes += sizeBytes
        if (receivedBytes <= LARGE_BYTES || storeBytes === Number.POSITIVE_INFINITY) return
        if (receivedBytes > addressBytes) throw tooLong(Math.floor(addressBytes))
        const byBytes = receivedBytes - countedBytes
        const ofAddress = (this.#bytesOf.get(holder) ?? 0) + byBytes
        if (ofAddress > addressBytes || this.#bytes + byBytes > storeBytes) throw noRoom()
        countedBytes += byBytes
        this.#count(holder, ofAddress, byBytes)
      },
      end: () => {
        if (countedBytes > 0) this.#count(holder, (this.#bytesOf.get(holder) ?? 0) - countedBytes, -countedBytes)
        countedBytes = 0
      },
    }
  }

  #count(holder: Holder | undefined, ofHolder: number, byBytes: number): void {
    this.#bytes += byBytes
    if (ofHolder > 0) this.#bytesOf.set(holder, ofHolder)
    else this.#bytesOf.delete(holder)
  }
}

const tooLong = (maxBytes: number): HttpError =>
  new HttpError(413, `the body is longer than ${maxBytes} bytes, three quarters of the store: send its length with it`)

const noRoom = (): HttpError =>
  new HttpError(503, 'too many bodies of unknown length are on their way: try again later', { 'retry-after': '1' })
