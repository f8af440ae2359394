import { StatusError } from '../../base/status-error.js'
import type { Blob } from '../../stream/blob/blob.js'
import { join } from '../../stream/join.js'
import { type Loop, sourceOf } from '../../stream/loop.js'
import type { Window } from './window.js'

/** Opens the blob from a position on, past the copy. */
type OpenRest = (position: number, signal: AbortSignal) => Promise<Blob>

/**
 * One reader of a copy under way. While it keeps up it gets the copy's bytes; one that lags behind what the copy still has
 * goes on by itself from where it is.
 */
export const copyReader = (window: Window, openRest: OpenRest): Loop =>
  sourceOf(async function* (signal) {
    signal.addEventListener('abort', () => window.wake(), { once: true })
    for (let position = 0; !signal.aborted; ) {
      const bytes = window.at(position)
      if (bytes === 'over') return
      if (bytes instanceof StatusError) throw bytes
      if (bytes === 'gone') return yield* chunksOf(await openRest(position, signal), signal)
      if (bytes === 'later') await window.news()
      else {
        position += bytes.length
        yield bytes
      }
    }
  })

/** The bytes of a blob one after the other; who reads no further gives it up. */
export async function* chunksOf(blob: Blob, signal: AbortSignal): AsyncGenerator<Buffer> {
  const path = blob.path()
  const done = join(path, signal)
  // It is told below, or by the last stage as its reader.
  done.catch(() => {})
  yield* path[path.length - 1] as AsyncIterable<Buffer>
  await done
}
