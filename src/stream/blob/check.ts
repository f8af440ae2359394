import type { StatusError } from '../../base/status-error.js'
import { faultOf, type PendingCheck, repaired, Verify, type VerifyOptions } from '../verify.js'
import { VerifyDecoded } from '../verify-decoded.js'
import { checkedFeed } from './feed.js'
import type { BlobStage, Encoding } from './stage.js'

/** Whether nothing is left to compare once it is done. */
export const isFull = ({ checksSize = true, checksHash = true }: VerifyOptions): boolean => checksSize && checksHash

/** A check as a stage, for a blob that passes in that encoding. */
export const checkStage = (check: PendingCheck, encoding: Encoding): BlobStage => {
  const { digest } = check
  if (encoding !== 'IDENTITY') return { stream: () => new VerifyDecoded(digest, encoding, check) }
  return {
    stream: () => new Verify(digest, check),
    feed: (feed) => checkedFeed(feed, check),
    bytes: (bytes) => {
      const error = faultOf(digest, bytes, check)
      return error === undefined ? bytes : rejectRepaired(error, check)
    },
  }
}

const rejectRepaired = async (error: StatusError, { repair }: PendingCheck): Promise<never> => {
  throw await repaired(error, repair)
}
