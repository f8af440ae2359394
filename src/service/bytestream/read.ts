import type { Writable } from 'node:stream'
import type { Call } from '../../base/call.js'
import type { RpcCall } from '../../base/rpc.js'
import { StatusError } from '../../base/status-error.js'
import type { ReadRequest } from '../../proto/generated/google.bytestream.js'
import type { Compressor } from '../../reapi/compressor.js'
import type { Digest } from '../../reapi/digest.js'
import { type BlobName, blobDigest, parseReadName } from '../../reapi/resource-name.js'
import { join } from '../../stream/join.js'
import type { Path, Range } from '../../stream/path.js'
import { run } from '../../stream/run.js'
import { readPart, shortened } from '../blob.js'
import { compressedBytes, compressedReader } from '../compressed.js'
import { inInstance, instanceOf, servedCompressor } from '../instance.js'
import { send } from '../send.js'
import type { ByteStreamInstance, ByteStreamOptions } from './options.js'
import { ResponseSink } from './response-sink.js'

/** Streams a blob, or the part of it asked for. NOT_FOUND comes before any byte. */
export const read =
  ({ instances }: ByteStreamOptions) =>
  async (request: ReadRequest, rpc: RpcCall, responses: Writable): Promise<void> => {
    const name = parseReadName(request.resourceName)
    const instance = instanceOf(instances, name.instanceName)
    const { cas, digestFunctions, maxReadChunkBytes } = instance
    const compressor = servedCompressor(instance, name.compressor)
    const digest = blobDigest(name, digestFunctions)
    const range = rangeOf(request, name, digest)
    const call = inInstance(rpc, name.instanceName)
    if (compressor !== undefined) {
      await readCompressed(instance, digest, { offset: range.offset, compressor }, call, responses)
      return
    }
    const expectedBytes = Math.min(digest.sizeBytes - range.offset, range.limit)
    if (expectedBytes <= maxReadChunkBytes) {
      const data = await readPart(cas, digest, range, call)
      if (data.length > 0) await send(responses, { data })
      return
    }
    const path = await cas.reader(digest, range, call)
    const onShort = (sentBytes: number): StatusError | undefined =>
      sentBytes < expectedBytes ? shortened(digest, range.offset + sentBytes) : undefined
    await run([...path, new ResponseSink(responses, maxReadChunkBytes, onShort)], call.signal)
  }

const readCompressed = async (
  { cas, maxReadChunkBytes }: ByteStreamInstance,
  digest: Digest,
  asked: { readonly offset: number; readonly compressor: Compressor },
  call: Call,
  responses: Writable,
): Promise<void> => {
  const bytes = await compressedBytes(cas, digest, asked, call)
  if (bytes !== undefined) {
    for (let at = 0; at < bytes.length; at += maxReadChunkBytes) {
      await send(responses, { data: bytes.subarray(at, at + maxReadChunkBytes) })
    }
    return
  }
  const path = await compressedReader(cas, digest, asked, call)
  const transfer: Path = [...path, new ResponseSink(responses, maxReadChunkBytes)]
  // What is short does not earn back what pipeline() costs to set up.
  await (digest.sizeBytes <= maxReadChunkBytes ? join(transfer, call.signal) : run(transfer, call.signal))
}

/** Offsets count bytes of the blob, also where it is sent compressed; a limit then has no meaning (REAPI, Read). */
const rangeOf = ({ readOffset, readLimit }: ReadRequest, { compressor }: BlobName, { sizeBytes }: Digest): Range => {
  if (readLimit < 0) {
    throw new StatusError('INVALID_ARGUMENT', `read_limit ${readLimit} is not valid, expected 0 (no limit) or more`)
  }
  if (compressor !== undefined && readLimit !== 0) {
    throw new StatusError('INVALID_ARGUMENT', `read_limit is ${readLimit}, expected 0 for a compressed read`)
  }
  if (!Number.isSafeInteger(readOffset) || readOffset < 0 || readOffset > sizeBytes) {
    throw new StatusError('OUT_OF_RANGE', `read_offset ${readOffset} is not valid, expected 0 to ${sizeBytes}`)
  }
  return { offset: readOffset, limit: readLimit === 0 ? Number.POSITIVE_INFINITY : readLimit }
}
