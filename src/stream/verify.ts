import { Transform, type TransformCallback } from 'node:stream'
import { StatusError } from '../base/status-error.js'
import type { Digest } from '../reapi/digest.js'
import type { Hasher } from '../reapi/digest-function.js'
import { STAGE_BYTES } from './path.js'

export interface VerifyOptions {
  /** Who is to blame: the client that sends the bytes (INVALID_ARGUMENT) or the backend that kept them (DATA_LOSS). */
  readonly fault: 'client' | 'backend'
  /** Both are checked unless one is switched off. */
  readonly checksSize?: boolean
  readonly checksHash?: boolean
  /** Run on a mismatch, before the error is told: takes the wrong blob away, so that who tries again finds a miss. */
  readonly repair?: (() => Promise<void>) | undefined
}

/**
 * Passes bytes on and fails when they are not those of `digest`. It fails at the first byte too many, and before it
 * passes the last byte of a blob whose hash is wrong, so that whatever comes after never holds a whole wrong blob.
 */
export class Verify extends Transform {
  readonly #digest: Digest
  readonly #fault: VerifyOptions['fault']
  readonly #checksSize: boolean
  readonly #repair: (() => Promise<void>) | undefined
  #hasher: Hasher | undefined
  #sizeBytes = 0

  constructor(digest: Digest, { fault, checksSize = true, checksHash = true, repair }: VerifyOptions) {
    super({ highWaterMark: STAGE_BYTES })
    this.#digest = digest
    this.#fault = fault
    this.#checksSize = checksSize
    this.#repair = repair
    this.#hasher = checksHash ? digest.function.createHasher() : undefined
  }

  override _transform(chunk: Buffer, _encoding: BufferEncoding, callback: TransformCallback): void {
    this.#sizeBytes += chunk.length
    const declared = this.#digest.sizeBytes
    if (this.#checksSize && this.#sizeBytes > declared) {
      this.#fail(`${declared} bytes`, `at least ${this.#sizeBytes}`, callback)
      return
    }
    this.#hasher?.update(chunk)
    if (this.#checksSize && this.#sizeBytes === declared) this.#checkHash(callback, chunk)
    else callback(null, chunk)
  }

  override _flush(callback: TransformCallback): void {
    const declared = this.#digest.sizeBytes
    if (this.#checksSize && this.#sizeBytes < declared) this.#fail(`${declared} bytes`, `${this.#sizeBytes}`, callback)
    else this.#checkHash(callback)
  }

  /** Ends the hash the first time; a blob that passed stays passed. */
  #checkHash(callback: TransformCallback, last?: Buffer): void {
    const found = this.#hasher?.digest()
    this.#hasher = undefined
    if (found === undefined || found === this.#digest.hash) callback(null, last)
    else this.#fail(`${this.#digest.function.name} ${this.#digest.hash}`, found, callback)
  }

  #fail(expected: string, found: string, callback: TransformCallback): void {
    void mismatch(this.#digest, expected, found, { fault: this.#fault, repair: this.#repair }).then(callback)
  }
}

/** As the stage, for a whole blob in memory: rejects when the bytes are not those of `digest`. */
export const verifyBytes = async (digest: Digest, bytes: Uint8Array, options: VerifyOptions): Promise<void> => {
  const { checksSize = true, checksHash = true } = options
  if (checksSize && bytes.length !== digest.sizeBytes) {
    throw await mismatch(digest, `${digest.sizeBytes} bytes`, `${bytes.length}`, options)
  }
  if (!checksHash) return
  const found = digest.function.hash(bytes)
  if (found !== digest.hash) throw await mismatch(digest, `${digest.function.name} ${digest.hash}`, found, options)
}

/** What to tell, once the wrong blob was taken away. */
const mismatch = async (
  digest: Digest,
  expected: string,
  found: string,
  { fault, repair }: Pick<VerifyOptions, 'fault' | 'repair'>,
): Promise<StatusError> => {
  const [code, bytes] = fault === 'client' ? (['INVALID_ARGUMENT', 'sent'] as const) : (['DATA_LOSS', 'kept'] as const)
  const message = `the bytes ${bytes} for blob ${digest.key} are not that blob: expected ${expected}, found ${found}`
  try {
    await repair?.()
  } catch (cause) {
    return new StatusError(code, `${message} (and it could not be removed)`, { cause })
  }
  return new StatusError(code, message)
}
