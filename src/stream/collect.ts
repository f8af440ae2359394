import { StatusError } from '../base/status-error.js'
import { join } from './join.js'
import type { ReadPath, WritePath } from './path.js'

/** Reads a path into memory. Fails with RESOURCE_EXHAUSTED before it holds more than `maxBytes`. */
export const collect = async (
  path: ReadPath,
  { maxBytes, signal }: { readonly maxBytes: number; readonly signal: AbortSignal },
): Promise<Buffer> => {
  const chunks: Buffer[] = []
  let sizeBytes = 0
  const last = path[path.length - 1] ?? path[0]
  last.on('data', (chunk: Buffer) => {
    sizeBytes += chunk.length
    if (sizeBytes <= maxBytes) chunks.push(chunk)
    else
      last.destroy(new StatusError('RESOURCE_EXHAUSTED', `the blob is larger than the ${maxBytes} bytes allowed here`))
  })
  await join(path, signal)
  const [only] = chunks
  return chunks.length === 1 && only !== undefined ? only : Buffer.concat(chunks, sizeBytes)
}

/** Writes bytes in memory to a path. Resolves when they are committed; rejects after all stages have closed. */
export const deliver = async (bytes: Uint8Array, path: WritePath, signal: AbortSignal): Promise<void> => {
  const done = join(path, signal)
  const first: WritePath[0] = path[0]
  if (bytes.length === 0) first.end()
  else first.end(bytes)
  await done
}
