import { join } from '../join.js'
import type { Blob } from './blob.js'

/** The bytes of a blob in order. Ending the iteration early discards the rest. */
export async function* chunksOf(blob: Blob, signal: AbortSignal): AsyncGenerator<Buffer> {
  const path = blob.path()
  const done = join(path, signal)
  // The failure is reported by `await done` below, or by the last stage to its reader.
  done.catch(() => {})
  yield* path[path.length - 1] as AsyncIterable<Buffer>
  await done
}
