import { createCipheriv, createHash } from 'node:crypto'
import { Readable } from 'node:stream'
import { type Call, internalCall } from '../../src/base/call.js'
import { codec } from '../../src/proto/codec.js'
import { Digest } from '../../src/reapi/digest.js'
import { DigestBatch } from '../../src/reapi/digest-batch.js'
import { digestFunctions } from '../../src/reapi/digest-function.js'
import { readPacked } from '../../src/service/cas/find-missing-request.js'
import type { Store } from '../../src/store/store.js'
import { type Range, WHOLE } from '../../src/stream/path.js'
import { collect, run } from '../../src/stream/run.js'

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

const requestCodec = codec('build.bazel.remote.execution.v2.FindMissingBlobsRequest')

/** Digests of one function, at least one, as they come from a client. */
export const batchOf = (digests: readonly Digest[]): DigestBatch => {
  const [first] = digests
  const packed = readPacked(requestCodec.encode({ blobDigests: digests }))
  if (first === undefined || packed === undefined) throw new Error('these digests are no batch')
  return new DigestBatch(first.function, packed.digests)
}

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
