import { StatusError } from '../base/status-error.js'
import type { Digest } from '../reapi/digest.js'
import type { Hasher } from '../reapi/digest-function.js'

export interface BlobCheckOptions {
  /**
   * The party at fault: the client that sends the bytes (INVALID_ARGUMENT) or the backend that stored them
   * (DATA_LOSS).
   */
  readonly fault: 'client' | 'backend'
  /** Both are checked by default. */
  readonly checksSize?: boolean
  readonly checksHash?: boolean
}

/** Compares a blob with its digest, chunk by chunk. Methods return the fault, or `undefined` if there is none. */
export class BlobCheck {
  readonly #digest: Digest
  readonly #options: BlobCheckOptions
  readonly #checksSize: boolean
  #hasher: Hasher | undefined
  #sizeBytes = 0

  constructor(digest: Digest, options: BlobCheckOptions, begun?: BlobCheck) {
    const { checksSize = true, checksHash = true } = options
    this.#digest = digest
    this.#options = options
    this.#checksSize = checksSize
    if (begun === undefined) this.#hasher = checksHash ? digest.function.createHasher(digest.sizeBytes) : undefined
    else {
      this.#hasher = begun.#hasher?.copy()
      this.#sizeBytes = begun.#sizeBytes
    }
  }

  /** An independent check that continues from the same position. */
  copy(): BlobCheck {
    return new BlobCheck(this.#digest, this.#options, this)
  }

  /** Fails at the first surplus byte, and at the last byte of a blob whose hash is wrong. */
  update(bytes: Buffer): StatusError | undefined {
    this.#sizeBytes += bytes.length
    const declared = this.#digest.sizeBytes
    if (this.#checksSize && this.#sizeBytes > declared) {
      return this.#failure(`${declared} bytes`, `at least ${this.#sizeBytes}`)
    }
    this.#hasher?.update(bytes)
    return this.#checksSize && this.#sizeBytes === declared ? this.#compareHash() : undefined
  }

  /** Call this after the last byte. */
  end(): StatusError | undefined {
    const declared = this.#digest.sizeBytes
    if (this.#checksSize && this.#sizeBytes < declared) return this.#failure(`${declared} bytes`, `${this.#sizeBytes}`)
    return this.#compareHash()
  }

  /** Finishes the hash at the first call. Later calls return no fault. */
  #compareHash(): StatusError | undefined {
    const found = this.#hasher?.digest()
    this.#hasher = undefined
    if (found === undefined || found === this.#digest.hash) return undefined
    return this.#failure(`${this.#digest.function.name} ${this.#digest.hash}`, found)
  }

  #failure(expected: string, found: string): StatusError {
    return mismatch(this.#digest, expected, found, this.#options.fault)
  }
}

export const mismatch = (
  digest: Digest,
  expected: string,
  found: string,
  fault: BlobCheckOptions['fault'],
): StatusError => {
  const [code, bytes] = fault === 'client' ? (['INVALID_ARGUMENT', 'sent'] as const) : (['DATA_LOSS', 'kept'] as const)
  const problem = `expected ${expected}, found ${found}`
  return new StatusError(code, `the bytes ${bytes} for blob ${digest.key} are not that blob: ${problem}`)
}
