import { Transform, type TransformCallback } from 'node:stream'
import { StatusError } from '../base/status-error.js'
import type { Digest } from '../reapi/digest.js'
import { type BlobCheck, type BlobCheckOptions, mismatch } from './blob-check.js'
import { callBackAfter } from './call-back.js'
import { STAGE_BYTES } from './path.js'

export interface VerifyOptions extends BlobCheckOptions {
  /** Called on a mismatch, before the error is reported. Removes the damaged blob, so that a retry finds a miss. */
  readonly repair?: (() => Promise<void>) | undefined
}

/** A check that must pass before a consumer gets the whole blob. */
export interface PendingCheck extends VerifyOptions {
  readonly digest: Digest
}

/** Observes the bytes that pass a check. */
export interface Witness {
  /**
   * Called before the bytes pass; the next bytes follow when the promise resolves. `soFar` is valid only in
   * this turn, unless copied.
   */
  passed(bytes: Buffer, soFar: BlobCheck): Promise<void> | undefined
  /** The whole blob has passed and matches. */
  ended(): void
}

interface VerifyParts {
  readonly repair?: VerifyOptions['repair']
  readonly witness?: Witness | undefined
}

/**
 * Passes bytes on, and fails if they do not match the digest: at the first surplus byte, and before the last
 * byte if the hash is wrong. So no later stage receives a complete damaged blob.
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
    if (error !== undefined) callBackAfter(this, rejection(error, this.#repair), callback)
    else {
      const seen = this.#witness?.passed(chunk, this.#check)
      if (seen === undefined) callback(null, chunk)
      else callBackAfter(this, seen, (error) => callback(error, chunk))
    }
  }

  override _flush(callback: TransformCallback): void {
    const error = this.#check.end()
    if (error !== undefined) callBackAfter(this, rejection(error, this.#repair), callback)
    else {
      this.#witness?.ended()
      callback()
    }
  }
}

/** The fault of a whole blob in memory; `undefined` if it matches. */
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

/** Rejects with the error to report, after the repair. */
export const rejection = async (error: StatusError, repair: VerifyOptions['repair']): Promise<never> => {
  throw await repaired(error, repair)
}

/** Runs the repair and returns the error to report. */
export const repaired = async (error: StatusError, repair: VerifyOptions['repair']): Promise<StatusError> => {
  try {
    await repair?.()
    return error
  } catch (cause) {
    return new StatusError(error.code, `${error.message} (and it could not be removed)`, { cause })
  }
}
