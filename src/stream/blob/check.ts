import { type PendingCheck, Verify, type VerifyOptions, verifyBytes } from '../verify.js'
import { VerifyDecoded } from '../verify-decoded.js'
import type { BlobStage, Encoding } from './stage.js'

/** Whether nothing is left to compare once it is done. */
export const isFull = ({ checksSize = true, checksHash = true }: VerifyOptions): boolean => checksSize && checksHash

/** A check as a stage, for a blob that passes in that encoding. */
export const checkStage = ({ digest, ...options }: PendingCheck, encoding: Encoding): BlobStage => {
  if (encoding !== 'IDENTITY') return { stream: () => new VerifyDecoded(digest, encoding, options) }
  return {
    stream: () => new Verify(digest, options),
    bytes: async (bytes) => {
      await verifyBytes(digest, bytes, options)
      return bytes
    },
  }
}
