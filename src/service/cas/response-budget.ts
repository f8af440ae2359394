import type { Digest } from '../../reapi/digest.js'

/**
 * What still fits into one response message. gRPC clients refuse messages above 4 MiB unless told otherwise, whatever
 * the server announces, so no response exceeds the limit, envelope included.
 */
export class ResponseBudget {
  #leftBytes: number

  constructor(maxBytes: number) {
    this.#leftBytes = maxBytes
  }

  /** Takes `sizeBytes` if they are left. */
  take(sizeBytes: number): boolean {
    if (sizeBytes > this.#leftBytes) return false
    this.#leftBytes -= sizeBytes
    return true
  }
}

/** An upper bound of an encoded entry of a digest and a status code: their bytes and every tag and length around them. */
export const entryBytes = (digest: Digest): number => digest.hash.length + 40
