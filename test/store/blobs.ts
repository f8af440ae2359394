import { createCipheriv, createHash } from 'node:crypto'
import { Readable } from 'node:stream'
import { setImmediate } from 'node:timers/promises'
import { type Call, internalCall } from '../../src/base/call.js'
import { Digest } from '../../src/reapi/digest.js'
import { digestFunctions } from '../../src/reapi/digest-function.js'
import { missingOf, type Outcomes, type Store } from '../../src/store/store.js'
import { Blob } from '../../src/stream/blob/blob.js'
import { type Range, WHOLE } from '../../src/stream/path.js'

export const call: Call = internalCall()

/** Bytes that depend on `seed` only: noise and text in turns of 100 KB, so that compression has both kinds of block. */
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

/** Cuts bytes into chunks of the given sizes, over and over. */
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

export const putStream = (store: Store, digest: Digest, stream: Readable, signal = call.signal): Promise<void> =>
  store.put(digest, Blob.ofPath([stream]), { ...call, signal })

export const get = async (store: Store, digest: Digest, range: Range = WHOLE): Promise<Buffer> =>
  (await store.get(digest, range, call)).bytes({ maxBytes: Number.POSITIVE_INFINITY, signal: call.signal })

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

/** Waits for what goes on behind the back of every call. */
export const until = async (isSo: () => Promise<boolean>): Promise<void> => {
  for (let i = 0; i < 10_000; i++) {
    if (await isSo()) return
    await setImmediate()
  }
  throw new Error('it never came to be')
}
