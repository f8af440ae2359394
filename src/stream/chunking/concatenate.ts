import { PassThrough, Readable } from 'node:stream'
import { StatusError } from '../../base/status-error.js'
import type { Blob } from '../blob/blob.js'
import { STAGE_BYTES } from '../path.js'

/** A blob that is part of another blob. */
export interface BlobPart {
  readonly sizeBytes: number
  open(signal: AbortSignal): Promise<Blob>
}

/** Limit of all prefetched parts together. A larger part is streamed in its turn. */
const AHEAD_BYTES = 4 * 1024 * 1024

/**
 * Streams the parts in order. While the reader consumes one part, up to `aheadCount` further parts are
 * prefetched, within AHEAD_BYTES in total. A part of the wrong length fails with DATA_LOSS.
 */
export class Concatenation extends Readable {
  readonly #abort = new AbortController()
  readonly #bytes: AsyncGenerator<Buffer, void>

  constructor(parts: readonly BlobPart[], aheadCount: number) {
    super({ highWaterMark: STAGE_BYTES })
    this.#bytes = bytesOf(parts, Math.max(1, aheadCount), this.#abort.signal)
  }

  override _read(): void {
    this.#bytes.next().then(
      ({ value }) => this.push(value ?? null),
      (error: unknown) => this.destroy(StatusError.from(error)),
    )
  }

  override _destroy(error: Error | null, callback: (error: Error | null) => void): void {
    this.#abort.abort()
    // The generator ends when its pending fetch has failed. That error is expected.
    this.#bytes.return().catch(() => {})
    callback(error)
  }
}

async function* bytesOf(
  parts: readonly BlobPart[],
  aheadCount: number,
  signal: AbortSignal,
): AsyncGenerator<Buffer, void> {
  const ahead: Promise<Buffer | undefined>[] = []
  let aheadBytes = 0
  let next = 0
  for (const part of parts) {
    while (next < parts.length && ahead.length < aheadCount) {
      const { sizeBytes } = parts[next] as BlobPart
      if (ahead.length > 0 && aheadBytes + sizeBytes > AHEAD_BYTES) break
      aheadBytes += sizeBytes
      ahead.push(fetched(parts[next++] as BlobPart, signal))
    }
    const bytes = await ahead.shift()
    aheadBytes -= part.sizeBytes
    if (bytes === undefined) yield* streamed(part, signal)
    else if (bytes.length > 0) yield bytes
  }
}

/** Fetches a part into memory; undefined if it is too large for that. */
const fetched = (part: BlobPart, signal: AbortSignal): Promise<Buffer | undefined> => {
  const { sizeBytes } = part
  const fetching = sizeBytes > AHEAD_BYTES ? Promise.resolve(undefined) : fetchPart(part, signal)
  // The error is reported when the part's turn comes, so it must not count as unhandled before.
  fetching.catch(() => {})
  return fetching
}

/** Fetches a whole part. DATA_LOSS if its length is wrong. */
export const fetchPart = async (part: BlobPart, signal: AbortSignal): Promise<Buffer> => {
  const { sizeBytes } = part
  const bytes = await (await part.open(signal)).bytes(sizeBytes, { signal })
  if (bytes.length !== sizeBytes) throw wrongLength(bytes.length, sizeBytes)
  return bytes
}

async function* streamed(part: BlobPart, signal: AbortSignal): AsyncGenerator<Buffer, void> {
  const passing = new PassThrough({ highWaterMark: STAGE_BYTES })
  const blob = await part.open(signal)
  const moved = blob.into([passing], signal)
  // The iteration below fails with the same error.
  moved.catch(() => {})
  let sizeBytes = 0
  for await (const chunk of passing as AsyncIterable<Buffer>) {
    sizeBytes += chunk.length
    yield chunk
  }
  await moved
  if (sizeBytes !== part.sizeBytes) throw wrongLength(sizeBytes, part.sizeBytes)
}

const wrongLength = (foundBytes: number, sizeBytes: number): StatusError =>
  new StatusError('DATA_LOSS', `a chunk has ${foundBytes} bytes, expected ${sizeBytes}`)
