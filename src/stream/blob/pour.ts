import { Writable } from 'node:stream'
import { cancellation, whenAborted } from '../../rpc/call.js'
import { callBackAfter, closeAfter } from '../call-back.js'
import { join } from '../join.js'
import { STAGE_BYTES } from '../path.js'
import { type BlobFeed, type FeedTaker, LastTake, type OnStop } from './feed.js'
import { type BlobForm, streamsOf } from './form.js'

/**
 * Sends the bytes of a blob of any form to `taker`, which only borrows them. Resolves when it has consumed
 * all. Rejects if it or the blob fails, or if the signal aborts. In both cases the last promise of `taker` has
 * settled before. So it must not wait for what only the caller does after a failure: `onStop` tells it.
 */
export const pour = async (form: BlobForm, taker: FeedTaker, signal: AbortSignal, onStop?: OnStop): Promise<void> => {
  if (form.kind === 'bytes') await pourBytes(form.bytes, taker, signal)
  else if (form.kind === 'feed') await pourFeed(form.feed, taker, signal, onStop)
  else await pourStreams(streamsOf(form), taker, signal, onStop)
}

const pourStreams = async (
  streams: ReturnType<typeof streamsOf>,
  taker: FeedTaker,
  signal: AbortSignal,
  onStop: OnStop | undefined,
): Promise<void> => {
  let failure: unknown
  // A taker that is told of a failure may abort the signal, which is no cause then.
  const told: OnStop = (error) => {
    if (!signal.aborted) failure ??= error
    onStop?.(error)
  }
  try {
    await join([...streams, new Pouring(taker, onStop && told)], signal)
  } catch (error) {
    throw signal.aborted ? (failure ?? error) : error
  }
}

const pourBytes = async (bytes: Buffer, taker: FeedTaker, signal: AbortSignal): Promise<void> => {
  for (let at = 0; at < bytes.length; at += STAGE_BYTES) {
    if (signal.aborted) throw cancellation(signal)
    await taker(bytes.subarray(at, at + STAGE_BYTES))
  }
}

const pourFeed = async (
  feed: BlobFeed,
  taker: FeedTaker,
  signal: AbortSignal,
  onStop: OnStop | undefined,
): Promise<void> => {
  let failure: unknown
  // The signal can abort while the feed is silent. A taker that is told of a failure may abort the signal too, which is no cause then.
  const giveUp = (): void => {
    failure ??= cancellation(signal)
    feed.discard()
  }
  whenAborted(signal, giveUp)
  try {
    if (signal.aborted) throw cancellation(signal)
    await feed.into(
      taker,
      onStop &&
        ((error) => {
          failure ??= error
          onStop(failure)
        }),
    )
  } catch (error) {
    failure ??= error
    feed.discard()
    throw failure
  } finally {
    signal.removeEventListener('abort', giveUp)
  }
}

class Pouring extends Writable {
  readonly #last: LastTake
  readonly #onStop: OnStop | undefined

  constructor(taker: FeedTaker, onStop: OnStop | undefined) {
    super({ highWaterMark: STAGE_BYTES })
    this.#last = new LastTake(taker)
    this.#onStop = onStop
  }

  override _write(chunk: Buffer, _encoding: BufferEncoding, callback: (error?: Error | null) => void): void {
    const taken = this.#last.take(chunk)
    if (taken === undefined) callback()
    else callBackAfter(this, taken, callback)
  }

  override _destroy(error: Error | null, callback: (error: Error | null) => void): void {
    if (error !== null) this.#onStop?.(error)
    closeAfter(this.#last.settled(), error, callback)
  }
}
