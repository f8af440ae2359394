import { crc32 } from 'node:zlib'
import { whenAborted } from '../../../base/cancellation.js'
import { StatusError } from '../../../base/status-error.js'
import type { Blob } from '../../../stream/blob/blob.js'
import { chunksOf } from '../../../stream/blob/chunks.js'
import { Loop, sourceOf } from '../../../stream/loop.js'
import type { Window } from './window.js'

/**
 * Opens the blob at a position, independently of the copy. `mark` is the state of the copy there; undefined at the
 * start.
 */
export type OpenRest<Mark> = (position: number, mark: Mark | undefined, signal: AbortSignal) => Promise<Blob>

/**
 * One reader of a copy in flight. While it keeps up, it gets the bytes of the copy. If it falls behind the window, it
 * continues with a read of its own.
 */
export const copyReader = <Mark>(window: Window<Mark>, openRest: OpenRest<Mark>): Loop =>
  sourceOf(async function* (signal) {
    whenAborted(signal, () => window.wake())
    let mark: Mark | undefined
    for (let position = 0; !signal.aborted; ) {
      const found = window.at(position)
      if (found === 'over') return
      if (found instanceof StatusError) throw found
      if (found === 'gone') return yield* chunksOf(await openRest(position, mark, signal), signal)
      if (found === 'later') await window.news()
      else {
        position += found.bytes.length
        mark = found.mark
        yield found.bytes
      }
    }
  })

/** Skips the bytes that a reader already has. They must be the same, because the stored encoding may have changed. */
export const behind = (position: number, checksum: number): Loop =>
  new Loop(async function* (input) {
    let skippedBytes = 0
    let found = 0
    for await (const chunk of input) {
      const skipped = chunk.subarray(0, position - skippedBytes)
      skippedBytes += skipped.length
      found = crc32(skipped, found)
      if (skippedBytes === position && found !== checksum) throw new StatusError('UNAVAILABLE', REPLACED)
      yield chunk.subarray(skipped.length)
    }
  })

const REPLACED = 'the blob was uploaded again, compressed otherwise, while it was read: read it again'
