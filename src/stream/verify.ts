import { Transform, type TransformCallback } from 'node:stream'
import { StatusError } from '../base/status-error.js'
import type { Digest } from '../reapi/digest.js'
import { type BlobCheck, type BlobCheckOptions, mismatch } from './blob-check.js'
import { STAGE_BYTES } from './path.js'

export interface VerifyOptions extends BlobCheckOptions {
  /** Run on a mismatch, before the error is told: takes the wrong blob away, so that who tries again finds a miss. */
  readonly repair?: (() => Promise<void>) | undefined
}

/** What a blob is still to be compared with before anybody gets the whole of it. */
export interface PendingCheck extends VerifyOptions {
  readonly digest: Digest
}

/** Sees what a check lets pass. */
export interface Witness {
  /** These bytes are about to pass, and what comes behind them when the answer has resolved; `soFar` is for this turn, or to be copied. */
  passed(bytes: Buffer, soFar: BlobCheck): Promise<void> | undefined
  /** That was the whole blob, and it is right. */
  ended(): void
}

interface VerifyParts {
  readonly repair?: VerifyOptions['repair']
  readonly witness?: Witness | undefined
}

/**
 * Passes bytes on and fails when they are not those of `digest`. It fails at the first byte too many, and before it
 * passes the last byte of a blob whose hash is wrong, so that whatever comes after never holds a whole wrong blob.
 */
export class Verify extends Transform {
  readonly #check: BlobCheck
  readonly #repair: VerifyOptions['repair']
  readonly #witness: Witness | undefined

  constructor(check: BlobCheck, { repair, witness }: VerifyParts = {}) {
    super({ highWaterMark: STAGE_BYTES })
    this.#check = check
    this.#repair = repair
    this.#witness = witness
  }

  override _transform(chunk: Buffer, _encoding: BufferEncoding, callback: TransformCallback): void {
    const error = this.#check.update(chunk)
    if (error !== undefined) void repaired(error, this.#repair).then(callback)
    else {
      const seen = this.#witness?.passed(chunk, this.#check)
      if (seen === undefined) callback(null, chunk)
      else void seen.then(() => callback(null, chunk))
    }
  }

  override _flush(callback: TransformCallback): void {
    const error = this.#check.end()
    if (error !== undefined) void repaired(error, this.#repair).then(callback)
    else {
      this.#witness?.ended()
      callback()
    }
  }
}

/** What is wrong with a whole blob in memory, `undefined` when nothing is. */
export const faultOf = (
  digest: Digest,
  bytes: Uint8Array,
  { checksSize = true, checksHash = true, fault }: BlobCheckOptions,
): StatusError | undefined => {
  if (checksSize && bytes.length !== digest.sizeBytes) {
    return mismatch(digest, `${digest.sizeBytes} bytes`, `${bytes.length}`, fault)
  }
  const found = checksHash ? digest.function.hash(bytes) : digest.hash
  if (found === digest.hash) return undefined
  return mismatch(digest, `${digest.function.name} ${digest.hash}`, found, fault)
}

/** What to tell, once the wrong blob was taken away. */
export const repaired = async (error: StatusError, repair: VerifyOptions['repair']): Promise<StatusError> => {
  try {
    await repair?.()
    return error
  } catch (cause) {
    return new StatusError(error.code, `${error.message} (and it could not be removed)`, { cause })
  }
}
