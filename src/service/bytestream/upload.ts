import type { Call } from '../../base/call.js'
import { StatusError } from '../../base/status-error.js'
import type { Compressor } from '../../reapi/compressor.js'
import type { Digest } from '../../reapi/digest.js'
import type { Store } from '../../store/store.js'
import { PushedFeed } from '../../stream/blob/pushed-feed.js'
import { STAGE_BYTES } from '../../stream/path.js'
import { uploaded } from '../uploaded.js'

/** How an upload ended well: by its own bytes, or because another upload of the same blob was first. */
export type Outcome = 'committed' | 'elsewhere'

export interface UploadTarget {
  /** What makes two Writes the same upload: everything in the resource name that means something. */
  readonly name: string
  readonly instanceName: string
  readonly cas: Store
  readonly digest: Digest
  /** What the bytes are compressed with. */
  readonly compressor: Compressor | undefined
  /** Whether the bytes received so far may be continued by another Write. */
  readonly isResumable: boolean
  /** How long the bytes of a broken upload are kept for a Write that resumes it. */
  readonly parkedForMs: number
}

/**
 * One upload on its way into a CAS. It outlives the Write that feeds it: when the client vanishes its way stays open,
 * hash state and temporary file included, until another Write goes on or it is discarded.
 */
export class Upload {
  readonly target: UploadTarget
  /** Resolves when the blob is committed, rejects when it failed or the upload was discarded. */
  readonly over: Promise<Outcome>
  readonly #feed = new PushedFeed()
  readonly #abort = new AbortController()
  #receivedBytes = 0
  #isLive = true
  #isBusy = false
  #isElsewhere = false
  #revoke: ((reason: StatusError) => void) | undefined

  /** `giveWay`: see `Call.giveWay`. */
  constructor(target: UploadTarget, call: Call, giveWay: () => Promise<boolean>) {
    this.target = target
    // May be parked for long: nothing of the connection it came by is to be kept with it.
    const { instanceName, log, metadata, span } = call
    this.over = this.#run({ signal: this.#abort.signal, instanceName, log, metadata, span, giveWay })
    // A parked upload that is discarded has nobody who waits for it.
    this.over.catch(() => {})
  }

  /** Bytes taken so far, compressed ones where the upload is compressed. */
  get receivedBytes(): number {
    return this.#receivedBytes
  }

  get isLive(): boolean {
    return this.#isLive
  }

  /** Whether bytes of a message still wait to be taken: until then nobody else can go on. */
  get isBusy(): boolean {
    return this.#isBusy
  }

  /** Makes the caller the one Write that feeds this upload; the promise rejects when another takes its place. */
  own(): Promise<never> {
    this.#revoke?.(new StatusError('ABORTED', 'another Write of the same resource_name has resumed this upload'))
    const revoked = new Promise<never>((_, reject) => {
      this.#revoke = reject
    })
    revoked.catch(() => {})
    return revoked
  }

  /** Resolves when the bytes are no longer needed and there is room for more, at once if the upload is over. */
  async write(bytes: Buffer): Promise<void> {
    this.#isBusy = true
    for (let at = 0; at < bytes.length; at += STAGE_BYTES) {
      const slice = bytes.subarray(at, at + STAGE_BYTES)
      this.#receivedBytes += slice.length
      await this.#feed.push(slice)
    }
    this.#isBusy = false
  }

  /** No more bytes follow; `over` tells how it ended. */
  finish(): void {
    this.#feed.finish()
  }

  /** The blob is there by another upload: this one ends without its own bytes. */
  finishElsewhere(): void {
    this.#isElsewhere = true
    this.discard()
  }

  discard(): void {
    this.#abort.abort()
  }

  async #run(call: Call): Promise<Outcome> {
    const { cas, digest, compressor } = this.target
    try {
      await cas.put(digest, uploaded(this.#feed, digest, compressor), call)
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
