import { StatusError } from '../../base/status-error.js'
import type { Store } from '../../blobs/store.js'
import type { Holder } from '../../ledger/holder.js'
import type { Compressor } from '../../reapi/compressor.js'
import type { Digest } from '../../reapi/digest.js'
import type { Call, PartTaker, UploadPart } from '../../rpc/call.js'
import { PushedFeed } from '../../stream/blob/pushed-feed.js'
import { STAGE_BYTES } from '../../stream/path.js'
import { uploaded } from '../uploaded.js'
import type { Windows } from '../windows.js'

/** How an upload succeeded: by its own bytes, or because another upload of the same blob finished first. */
export type Outcome = 'committed' | 'elsewhere'

export interface UploadTarget {
  /**
   * Identifies the upload: two Writes with equal names continue the same one. Contains all that is significant in the
   * resource name.
   */
  readonly name: string
  readonly instanceName: string
  readonly cas: Store
  readonly digest: Digest
  /** Compression of the uploaded bytes. */
  readonly compressor: Compressor | undefined
  /** Whether another Write may continue after the bytes received so far. */
  readonly isResumable: boolean
  /** How long the bytes of an interrupted upload are kept for a Write that resumes it, in ms. */
  readonly parkedForMs: number
}

/** A class, because an object literal with a getter costs V8 a call of its runtime and a new shape for each upload. */
class SurrenderedPart implements PartTaker {
  isWaiting = false
  part: UploadPart | undefined

  take(part: UploadPart): void {
    this.part = part
  }
}

/**
 * One upload into a CAS. It outlives the Write that feeds it: after the client disconnects, hash state and temporary
 * file stay open until another Write continues or the upload is discarded.
 */
export class Upload {
  readonly target: UploadTarget
  /** Resolves when the blob is committed; rejects if the upload failed or was discarded. */
  readonly over: Promise<Outcome>
  /** Of the client that began it. */
  readonly address: Holder | undefined
  readonly #feed = new PushedFeed()
  readonly #abort = new AbortController()
  #receivedBytes = 0
  #isLive = true
  #isBusy = false
  #isElsewhere = false
  readonly #surrendered = new SurrenderedPart()
  readonly #windows: Windows | undefined
  #revoke: ((reason: StatusError) => void) | undefined

  /** `giveWay`: see `Call.giveWay`. `windows`: of the call of a compressed upload. */
  constructor(
    target: UploadTarget,
    call: Call,
    { giveWay, windows }: { readonly giveWay: Call['giveWay']; readonly windows: Windows | undefined },
  ) {
    this.target = target
    this.#windows = windows
    // The upload may be parked for long, so of its connection it keeps only whose bytes are counted.
    const { instanceName, log, metadata, span } = call
    const held = call.held && { ledger: call.held.ledger, holder: call.held.holder }
    this.address = held?.holder.parent
    this.over = this.#run({
      signal: this.#abort.signal,
      instanceName,
      log,
      metadata,
      span,
      held,
      giveWay,
      partTaker: this.#surrendered,
    })
    // No caller waits for a parked upload, so its rejection must not count as unhandled.
    this.over.catch(() => {})
  }

  /** Bytes received so far, before decompression. */
  get receivedBytes(): number {
    return this.#receivedBytes
  }

  get isLive(): boolean {
    return this.#isLive
  }

  /** Whether a message is still being written. No other Write can continue before that ends. */
  get isBusy(): boolean {
    return this.#isBusy
  }

  /** Makes the caller the only Write that feeds this upload. The promise rejects when another Write takes over. */
  takeOwnership(): Promise<never> {
    this.#revoke?.(new StatusError('ABORTED', 'another Write of the same resource_name has resumed this upload'))
    const revoked = new Promise<never>((_, reject) => {
      this.#revoke = reject
    })
    revoked.catch(() => {})
    return revoked
  }

  /** Resolves once the caller may reuse `bytes` and there is room for more; immediately if the upload is over. */
  async write(bytes: Buffer): Promise<void> {
    this.#isBusy = true
    for (let at = 0; at < bytes.length; at += STAGE_BYTES) {
      const slice = bytes.subarray(at, at + STAGE_BYTES)
      this.#receivedBytes += slice.length
      await this.#feed.push(slice)
    }
    this.#isBusy = false
  }

  /** Marks the end of the bytes. `over` settles with the outcome. */
  finish(): void {
    this.#feed.finish()
  }

  /** Ends this upload with 'elsewhere', because another upload has committed the blob. */
  finishElsewhere(): void {
    this.#isElsewhere = true
    this.discard()
  }

  discard(): void {
    this.#abort.abort()
  }

  /** Ends this upload. Resolves with what its store has of it; undefined if that is nothing, or all. */
  async surrender(): Promise<UploadPart | undefined> {
    this.#surrendered.isWaiting = true
    this.#isLive = false
    this.discard()
    await this.over.catch(() => {})
    return this.#surrendered.part
  }

  async #run(call: Call): Promise<Outcome> {
    const { cas, digest, compressor } = this.target
    try {
      const sent = { compressor, sizeBytes: digest.sizeBytes, windows: this.#windows }
      await cas.put(digest, uploaded(this.#feed, sent), call)
      return 'committed'
    } catch (error) {
      if (this.#isElsewhere) return 'elsewhere'
      throw error
    } finally {
      this.#feed.discard()
      this.#isLive = false
    }
  }
}
