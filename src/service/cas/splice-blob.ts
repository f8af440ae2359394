import { StatusError } from '../../base/status-error.js'
import { missingOf, type Store } from '../../blobs/store.js'
import { sizeOfChunks } from '../../content/chunk-list.js'
import { codec } from '../../proto/codec.js'
import type { Chunking } from '../../reapi/chunking.js'
import { Digest } from '../../reapi/digest.js'
import type { Call } from '../../rpc/call.js'
import { callWith } from '../../rpc/call.js'
import type { ServedCall } from '../../rpc/rpc.js'
import { type BlobPart, joinParts } from '../../stream/chunking/joined-file.js'
import { WHOLE } from '../../stream/path.js'
import { checkBlobSize } from '../instance.js'
import { openRequest, requestDigest } from '../request.js'
import type { CasOptions } from './options.js'
import { chunkedBlobsOf } from './split-blob.js'

/** Number of chunks fetched ahead while the blob is concatenated. */
const AHEAD_COUNT = 8

const requestCodec = codec('build.bazel.remote.execution.v2.SpliceBlobRequest')
const responseCodec = codec('build.bazel.remote.execution.v2.SpliceBlobResponse')

/** Measured: a digest takes 72 bytes in a request, and about 700 while its chunk is looked up and joined. */
const BYTES_PER_MESSAGE_BYTE = 10

/**
 * Concatenates chunks of the CAS into a blob. The result is checked against its digest like any upload. What the list of chunks
 * takes is reserved before it is decoded.
 */
export const spliceBlob = (options: CasOptions) => {
  const splice = splicing(options)
  return async (message: Buffer, rpc: ServedCall): Promise<Buffer> => {
    const { held } = rpc
    const reserved = held?.ledger.kinds.requests.reserveOrThrow(held.holder, message.length * BYTES_PER_MESSAGE_BYTE)
    try {
      const blob = await splice(message, rpc)
      return responseCodec.encode({ blobDigest: blob.toMessage() })
    } finally {
      reserved?.release()
    }
  }
}

/** Resolves with the digest of the blob, which then is in the CAS. */
const splicing =
  ({ instances }: CasOptions) =>
  async (message: Buffer, rpc: ServedCall): Promise<Digest> => {
    const request = requestCodec.decode(message)
    const { instanceName, blobDigest, chunkDigests } = request
    rpc.note({ instance: instanceName, digest: blobDigest?.hash, chunks: chunkDigests.length })
    const { instance, call, functions } = openRequest(instances, request, rpc)
    const { cas } = instance
    const chunked = chunkedBlobsOf(instance, instanceName)
    const digest = requestDigest(blobDigest, functions, 'blob_digest')
    checkBlobSize(instance, digest)
    const chunks = Digest.parseAll(chunkDigests, digest.function, 'chunk_digests')
    checkChunks(digest, chunks, chunked.maxChunkCount)
    const missing = await missingOf(cas, [...unique([digest, ...chunks])], call)
    const isThere = !missing.some(({ key }) => key === digest.key)
    if (isThere) return digest
    const [gone] = missing.filter(({ key }) => key !== digest.key)
    if (gone !== undefined) throw new StatusError('NOT_FOUND', `chunk ${gone.key} is not in the CAS`)
    const list = { chunks, chunkingFunction: request.chunkingFunction }
    if (cas.chunks !== undefined && isKeptAs(chunks, digest, cas.chunks.chunking)) {
      await cas.chunks.splice(digest, list, call)
      return digest
    }
    const parts = chunks.map((chunk) => partOf(chunk, cas, call))
    await cas.put(digest, await joinParts(parts, { aheadCount: AHEAD_COUNT, signal: call.signal }), call)
    await chunked.remember(digest, list, call)
    return digest
  }

/** Whether a store of chunks keeps a blob as a client cut it. Others are cut again. */
const isKeptAs = (chunks: readonly Digest[], { sizeBytes }: Digest, { maxBytes }: Chunking): boolean =>
  sizeBytes > maxBytes && chunks.every((chunk) => chunk.sizeBytes <= maxBytes)

const checkChunks = (digest: Digest, chunks: readonly Digest[], maxChunkCount: number): void => {
  if (chunks.length > maxChunkCount) {
    const expected = `expected at most ${maxChunkCount}: upload the blob whole`
    throw new StatusError('INVALID_ARGUMENT', `chunk_digests has ${chunks.length} entries, ${expected}`)
  }
  const sizeBytes = sizeOfChunks(chunks)
  if (sizeBytes === digest.sizeBytes) return
  const found = `the chunks of blob ${digest.key} have ${sizeBytes} bytes together`
  throw new StatusError('INVALID_ARGUMENT', `${found}, expected ${digest.sizeBytes}`)
}

const unique = (digests: readonly Digest[]): Iterable<Digest> =>
  new Map(digests.map((digest) => [digest.key, digest])).values()

/** A chunk that is damaged in the store counts as a fault of the backend, not of the client. */
const partOf = (chunk: Digest, cas: Store, call: Call): BlobPart => ({
  sizeBytes: chunk.sizeBytes,
  open: async (signal) => {
    const blob = await cas.get(chunk, WHOLE, callWith(call, { signal }))
    return blob.verify(chunk, { fault: 'backend', repair: () => cas.remove(chunk, 'wrong', call) })
  },
})
