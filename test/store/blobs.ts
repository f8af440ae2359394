import { createCipheriv, createHash } from 'node:crypto'
import { Readable } from 'node:stream'
import { missingOf, type Outcomes, type Store } from '../../src/blobs/store.js'
import { Digest } from '../../src/reapi/digest.js'
import { digestFunctions } from '../../src/reapi/digest-function.js'
import { type Call, internalCall } from '../../src/rpc/call.js'
import { Blob } from '../../src/stream/blob/blob.js'
import { BlobFeed, type FeedTaker, type OnStop } from '../../src/stream/blob/feed.js'
import { type Range, WHOLE } from '../../src/stream/path.js'
import { LATE, within } from '../../src/work/deadline.js'

/** It carries metadata, so that the contract double sees whether a store passes it on. */
export const call: Call = { ...internalCall(), metadata: new Map([['x-caller', 'the test']]) }

/**
 * Bytes that depend only on `seed`: alternating 100 KB of noise and of text, so that compression has both kinds of
 * block.
 */
export const bytesOf = (sizeBytes: number, seed = 'seed'): Buffer => {
  const key = createHash('md5').update(seed).digest()
  const bytes = createCipheriv('aes-128-ctr', key, Buffer.alloc(16)).update(Buffer.alloc(sizeBytes))
  for (let at = 100_000; at < sizeBytes; at += 200_000) {
    bytes.fill(`the words of ${seed} at ${at}. `, at, Math.min(sizeBytes, at + 100_000))
  }
  return bytes
}

export const digestOf = (bytes: Uint8Array): Digest => Digest.of(bytes, digestFunctions.SHA256)

/** A source of exactly these chunks. */
export const source = (chunks: Iterable<Buffer>): Readable => Readable.from(chunks, { objectMode: false })

/** Splits bytes into chunks of the given sizes, repeatedly. */
export const cut = (bytes: Buffer, sizes: readonly number[] = [64 * 1024]): Buffer[] => {
  const chunks: Buffer[] = []
  for (let at = 0, i = 0; at < bytes.length; i++) {
    const sizeBytes = Math.max(1, sizes[i % sizes.length] ?? 1)
    chunks.push(bytes.subarray(at, at + sizeBytes))
    at += sizeBytes
  }
  return chunks
}

export const put = async (
  store: Store,
  digest: Digest,
  bytes: Buffer,
  { sizes, signal = call.signal }: { sizes?: readonly number[]; signal?: AbortSignal } = {},
): Promise<void> => putStream(store, digest, source(cut(bytes, sizes)), signal)

/** Passes bytes in one buffer, which it overwrites as soon as each portion was taken; then fails with `error`. */
export class LentFeed extends BlobFeed {
  isDiscarded = false
  readonly #chunks: readonly Buffer[]
  readonly #error: Error | undefined
  #giveUp: ((error: Error) => void) | undefined

  constructor(chunks: readonly Buffer[], error?: Error) {
    super()
    this.#chunks = chunks
    this.#error = error
  }

  protected move(taker: FeedTaker): Promise<void> {
    const givenUp = new Promise<never>((_, reject) => {
      this.#giveUp = reject
      if (this.isDiscarded) reject(new Error('discarded'))
    })
    return Promise.race([this.#give(taker), givenUp])
  }

  discard(): void {
    this.isDiscarded = true
    this.#giveUp?.(new Error('discarded'))
  }

  async #give(taker: FeedTaker): Promise<void> {
    const lent = Buffer.alloc(Math.max(0, ...this.#chunks.map(({ length }) => length)))
    for (const chunk of this.#chunks) {
      if (this.isDiscarded) return
      chunk.copy(lent)
      await taker(lent.subarray(0, chunk.length))
      lent.fill(0xee)
    }
    if (this.#error !== undefined) throw this.#error
  }
}

/** A feed that does this. */
export const feedOf = (
  move: (taker: FeedTaker, onStop: OnStop | undefined) => Promise<void>,
  discard: () => void = () => {},
): BlobFeed =>
  new (class extends BlobFeed {
    discard(): void {
      discard()
    }

    protected move(taker: FeedTaker, onStop: OnStop | undefined): Promise<void> {
      return move(taker, onStop)
    }
  })()

export const putLent = (store: Store, digest: Digest, feed: BlobFeed, signal = call.signal): Promise<void> =>
  store.put(digest, Blob.ofFeed(feed), { ...call, signal })

export const putStream = (store: Store, digest: Digest, stream: Readable, signal = call.signal): Promise<void> =>
  store.put(digest, Blob.ofPath([stream]), { ...call, signal })

export const get = async (store: Store, digest: Digest, range: Range = WHOLE): Promise<Buffer> =>
  (await store.get(digest, range, call)).bytes(Number.POSITIVE_INFINITY, call)

export const isPresent = async (store: Store, digest: Digest): Promise<boolean> =>
  (await missingOf(store, [digest], call)).length === 0

export const putAll = (
  store: Store,
  blobs: readonly { readonly digest: Digest; readonly bytes: Buffer }[],
  by: Call = call,
): Promise<Outcomes> =>
  store.putAll(
    blobs.map(({ digest, bytes }) => ({ digest, blob: Blob.ofBytes(bytes) })),
    by,
  )

/** The result of work, or a failure with `what` after ten seconds. */
export const inTime = async <T>(work: Promise<T>, what: string): Promise<T> => {
  const found = await within(10_000, work)
  if (found === LATE) throw new Error(`${what} did not come about`)
  return found
}
