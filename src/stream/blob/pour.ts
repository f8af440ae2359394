import { Writable } from 'node:stream'
import { cancellation, shareable } from '../../rpc/call.js'
import { join } from '../join.js'
import { STAGE_BYTES } from '../path.js'
import type { BlobFeed, FeedTaker } from './feed.js'
import { type BlobForm, streamsOf } from './form.js'

/**
 * Sends the bytes of a blob of any form to `taker`, which only borrows them. Resolves when it has consumed
 * all. Rejects if it or the blob fails, or if the signal aborts; `taker` then receives no more, but may still
 * be working on its last chunk.
 */
export const pour = async (form: BlobForm, taker: FeedTaker, signal: AbortSignal): Promise<void> => {
  if (form.kind === 'bytes') await pourBytes(form.bytes, taker, signal)
  else if (form.kind === 'feed') await pourFeed(form.feed, taker, signal)
  else await join([...streamsOf(form), new Pouring(taker)], signal)
}

const pourBytes = async (bytes: Buffer, taker: FeedTaker, signal: AbortSignal): Promise<void> => {
  for (let at = 0; at < bytes.length; at += STAGE_BYTES) {
    if (signal.aborted) throw cancellation(signal)
    await taker(bytes.subarray(at, at + STAGE_BYTES))
  }
}

const pourFeed = async (feed: BlobFeed, taker: FeedTaker, signal: AbortSignal): Promise<void> => {
  // The signal can abort while the feed is silent.
  const giveUp = (): void => feed.discard()
  shareable(signal)
  signal.addEventListener('abort', giveUp, { once: true })
  try {
    if (signal.aborted) throw cancellation(signal)
    await feed.into(taker)
  } catch (error) {
    feed.discard()
    throw signal.aborted ? cancellation(signal) : error
  } finally {
    signal.removeEventListener('abort', giveUp)
  }
}

class Pouring extends Writable {
  readonly #taker: FeedTaker

  constructor(taker: FeedTaker) {
    super({ highWaterMark: STAGE_BYTES })
    this.#taker = taker
  }

  override _write(chunk: Buffer, _encoding: BufferEncoding, callback: (error?: Error) => void): void {
    const taken = this.#taker(chunk)
    if (taken === undefined) callback()
    else taken.then(() => callback(), callback)
  }
}
