import { Transform, type TransformCallback } from 'node:stream'
import { isStatus, StatusError } from '../base/status-error.js'
import type { CompressorName } from '../reapi/compressor.js'
import type { Digest } from '../reapi/digest.js'
import { BlobCheck } from './blob-check.js'
import { Branch } from './branch.js'
import { callBackAfter, closeAfter } from './call-back.js'
import { compressionOf } from './compression/compression.js'
import { Drain } from './drain.js'
import { STAGE_BYTES } from './path.js'
import { rejection, Verify, type VerifyOptions, type Witness } from './verify.js'

/**
 * Passes compressed bytes on, and checks their decompressed content like Verify. Holds the last chunk back
 * until the check has passed, so no later stage receives a complete damaged blob. `witness` sees the
 * decompressed bytes.
 */
export class VerifyDecoded extends Transform {
  readonly #digest: Digest
  readonly #decoding: Branch
  readonly #fault: VerifyOptions['fault']
  readonly #repair: VerifyOptions['repair']
  #held: Buffer | undefined

  constructor(digest: Digest, compressor: CompressorName, { repair, ...checks }: VerifyOptions, witness?: Witness) {
    super({ highWaterMark: STAGE_BYTES })
    this.#digest = digest
    this.#fault = checks.fault
    this.#repair = repair
    const { decompress } = compressionOf({ name: compressor })
    const maxBytes = checks.checksSize === false ? undefined : digest.sizeBytes
    this.#decoding = new Branch([
      decompress(maxBytes),
      new Verify(new BlobCheck(digest, checks), { witness }),
      new Drain(),
    ])
  }

  override _transform(chunk: Buffer, _encoding: BufferEncoding, callback: TransformCallback): void {
    const before = this.#held
    this.#held = chunk
    const pass = (): void => {
      if (this.#decoding.isLive) callback(null, before)
      else callBackAfter(this, this.#decoded(), callback)
    }
    if (this.#decoding.write(chunk)) pass()
    else this.#decoding.onReady(pass)
  }

  override _flush(callback: TransformCallback): void {
    this.#decoding.end()
    callBackAfter(this, this.#decoded(), (error) => callback(error, this.#held))
  }

  override _destroy(error: Error | null, callback: (error: Error | null) => void): void {
    this.#decoding.destroy(error ?? undefined)
    closeAfter(this.#decoding.outcome, error, callback)
  }

  /** Waits for the decoding. Rejects with the fault of the blob. */
  async #decoded(): Promise<void> {
    const error = await this.#decoding.outcome
    if (error === undefined) return
    if (this.#fault === 'client') throw error
    if (isStatus(error, 'DATA_LOSS')) return rejection(error, this.#repair)
    if (!isStatus(error, 'INVALID_ARGUMENT')) throw error
    const lost = `the bytes kept for blob ${this.#digest.key} cannot be decompressed`
    return rejection(new StatusError('DATA_LOSS', lost, { cause: error }), this.#repair)
  }
}
