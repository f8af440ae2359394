import type { Digest } from '../../reapi/digest.js'

/**
 * The remaining room of one response message. By default, gRPC clients refuse messages above 4 MiB, whatever the server
 * announces. So no response may exceed the limit, envelope included. The ledger counts the memory of a response.
 */
export class ResponseBudget {
  #leftBytes: number

  constructor(maxBytes: number) {
    this.#leftBytes = maxBytes
  }

  /** Takes `sizeBytes` and returns true, or returns false if less is left. */
  take(sizeBytes: number): boolean {
    if (sizeBytes > this.#leftBytes) return false
    this.#leftBytes -= sizeBytes
    return true
  }
}

/** Upper bound for the encoded size of an entry with a digest and a status code, all tags and lengths included. */
export const entryBytes = (digest: Digest): number => digest.hash.length + 40
