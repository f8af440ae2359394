import { createHash } from 'node:crypto'
import { Readable } from 'node:stream'
import { type Call, internalCall } from '../../src/base/call.js'
import { Digest } from '../../src/reapi/digest.js'
import { digestFunctions } from '../../src/reapi/digest-function.js'
import type { Store } from '../../src/store/store.js'
import { type Range, WHOLE } from '../../src/stream/path.js'
import { collect, run } from '../../src/stream/run.js'

export const call: Call = internalCall()

/** Bytes that depend on `seed` only: half of them noise, half text, so that compression has both kinds of block. */
export const bytesOf = (sizeBytes: number, seed = 'seed'): Buffer => {
  const bytes = Buffer.allocUnsafe(sizeBytes)
  for (let at = 0, block = 0; at < sizeBytes; at += 4096, block++) {
    const noise = createHash('sha512').update(`${seed} ${block}`).digest()
    const isText = Math.floor(block / 32) % 2 === 0
    for (let i = at; i < Math.min(sizeBytes, at + 4096); i += noise.length) {
      if (!isText) noise.writeUInt32LE(Math.imul(i + 1, 0x9e3779b1) >>> 0, i % 60)
      noise.copy(bytes, i)
    }
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
): Promise<void> => run([source(cut(bytes, sizes)), ...(await store.writer(digest, call))], signal)

export const get = async (store: Store, digest: Digest, range: Range = WHOLE): Promise<Buffer> =>
  collect(await store.reader(digest, range, call), { maxBytes: Number.POSITIVE_INFINITY, signal: call.signal })

export const isPresent = async (store: Store, digest: Digest): Promise<boolean> =>
  (await store.findMissing([digest], call)).length === 0
