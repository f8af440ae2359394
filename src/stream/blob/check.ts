import type { StatusError } from '../../base/status-error.js'
import { BlobCheck } from '../blob-check.js'
import { WINDOW_BYTES } from '../compression/compression.js'
import { faultOf, type PendingCheck, repaired, Verify, type VerifyOptions } from '../verify.js'
import { VerifyDecoded } from '../verify-decoded.js'
import { checkedFeed } from './feed.js'
import type { BlobFile } from './file.js'
import type { BlobStage, Encoding } from './stage.js'

/** Whether the check covers both size and hash. */
export const isFull = ({ checksSize = true, checksHash = true }: VerifyOptions): boolean => checksSize && checksHash

/** The check as a stage for a blob in this encoding. */
export const checkStage = (check: PendingCheck, encoding: Encoding): BlobStage => {
  const { digest } = check
  if (encoding !== 'IDENTITY') {
    const windowBytes = Math.min(WINDOW_BYTES, digest.sizeBytes)
    return { windowBytes, stream: () => new VerifyDecoded(digest, encoding, check) }
  }
  return {
    windowBytes: 0,
    stream: () => new Verify(new BlobCheck(digest, check), check),
    feed: (feed) => checkedFeed(feed, check),
    // The check works by holding back the last byte, so a file of another length must become a stream.
    file: (file) => (file.sizeBytes === digest.sizeBytes ? new CheckedFile(file, check) : undefined),
    bytes: (bytes) => {
      const error = faultOf(digest, bytes, check)
      return error === undefined ? bytes : rejectRepaired(error, check)
    },
  }
}

/**
 * Checks a file of its digest's length while it is read. The read that completes the file fails if the
 * content is wrong.
 */
class CheckedFile implements BlobFile {
  readonly #file: BlobFile
  readonly #check: PendingCheck
  readonly #progress: BlobCheck
  #hashedBytes = 0

  constructor(file: BlobFile, check: PendingCheck) {
    this.#file = file
    this.#check = check
    this.#progress = new BlobCheck(check.digest, check)
  }

  get sizeBytes(): number {
    return this.#file.sizeBytes
  }

  get bufferBytes(): number {
    return this.#file.bufferBytes
  }

  /** Earlier positions may be read again; no position may be skipped. */
  async read(into: Buffer, position: number): Promise<number> {
    if (position > this.#hashedBytes)
      throw new Error(`read at byte ${position} of a file that is checked, ${this.#hashedBytes} is next`)
    const count = await this.#file.read(into, position)
    const fresh = into.subarray(this.#hashedBytes - position, count)
    this.#hashedBytes += fresh.length
    const isLast = this.#hashedBytes === this.sizeBytes
    const error = this.#progress.update(fresh) ?? (isLast ? this.#progress.end() : undefined)
    if (error !== undefined) throw await repaired(error, this.#check.repair)
    return count
  }

  close(): Promise<void> {
    return this.#file.close()
  }
}

const rejectRepaired = async (error: StatusError, { repair }: PendingCheck): Promise<never> => {
  throw await repaired(error, repair)
}
