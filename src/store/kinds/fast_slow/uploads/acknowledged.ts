import type { Clock } from '../../../../base/clock.js'
import { Code, StatusError } from '../../../../base/status-error.js'
import type { Store } from '../../../../blobs/store.js'
import type { Digest } from '../../../../reapi/digest.js'
import type { Call } from '../../../../rpc/call.js'
import type { Confirmed } from '../confirmed.js'
import type { Copies } from '../copies.js'
import { isOutage } from '../slow-watch.js'
import type { Place, UploadQueue } from './upload-queue.js'

/** A disk that is full or broken. Other failures of an upload may be those of its source. */
const DISK_FAULTS: ReadonlySet<number> = new Set([Code.RESOURCE_EXHAUSTED, Code.DATA_LOSS])
/** How long after such a failure uploads wait for slow instead. */
const FAST_PAUSE_MS = 5000

export interface AcknowledgedParts {
  readonly fast: Store
  readonly queue: UploadQueue
  readonly copies: Copies
  /** Undefined if blobs in fast never need to be confirmed. */
  readonly confirmed: Confirmed | undefined
  readonly clock: Clock
}

/** Puts one upload into fast, or gives up what was to be uploaded. */
export interface FastPut {
  put(): Promise<void>
  giveUp(): void
}

/** Uploads that are acknowledged when fast has them and the queue, on disk, knows them. */
export class AcknowledgedUploads {
  readonly #parts: AcknowledgedParts
  /** When the disk of fast failed to take an upload. */
  #failedMs = Number.NEGATIVE_INFINITY

  constructor(parts: AcknowledgedParts) {
    this.#parts = parts
  }

  /** Returns false if slow must have the upload before it is acknowledged. `blobBytes` is the length if it is known. */
  async put(digest: Digest, blobBytes: number | undefined, work: FastPut, call: Call): Promise<boolean> {
    const place = this.#placeOf(digest, blobBytes, work)
    if (place === undefined) return false
    await this.#putAt(place, digest, work, call)
    if (!digest.describesContent) this.#parts.confirmed?.add(digest)
    return true
  }

  /** A place in the queue; undefined when the upload has to wait for slow. Throws if it could overtake others then. */
  #placeOf(digest: Digest, blobBytes: number | undefined, { giveUp }: FastPut): Place | undefined {
    const { fast, queue, clock } = this.#parts
    const sizeBytes = digest.describesContent ? digest.sizeBytes : (blobBytes ?? 0)
    const fits = sizeBytes <= (fast.lasting?.maxBytes ?? 0) && clock.now() - this.#failedMs >= FAST_PAUSE_MS
    const place = fits ? queue.reserve(digest, sizeBytes) : undefined
    if (place !== undefined || !queue.couldOvertake(digest)) return place
    giveUp()
    throw new StatusError('RESOURCE_EXHAUSTED', `${queue.fullness}: ask again later`)
  }

  async #putAt(place: Place, digest: Digest, { put, giveUp }: FastPut, call: Call): Promise<void> {
    const { copies } = this.#parts
    try {
      await copies.settled(digest, call).catch((error: unknown) => {
        giveUp()
        throw error
      })
      await put()
      await place.queued(call)
    } catch (thrown) {
      const error = StatusError.from(thrown)
      if (DISK_FAULTS.has(error.code)) this.#failedMs = this.#parts.clock.now()
      throw error
    } finally {
      place.release()
    }
  }

  /** The words for an upload that had to wait for slow because the queue is full. */
  inWords(thrown: unknown): unknown {
    const { queue } = this.#parts
    if (!(thrown instanceof StatusError) || !isOutage(thrown) || !queue.isFull) return thrown
    return new StatusError('RESOURCE_EXHAUSTED', `${queue.fullness}, and ${thrown.message}`, { cause: thrown })
  }
}
