import type { Writable } from 'node:stream'
import type { Call } from '../../base/call.js'
import type { RpcCall } from '../../base/rpc.js'
import { StatusError } from '../../base/status-error.js'
import type { ReadRequest } from '../../proto/generated/google.bytestream.js'
import type { Digest } from '../../reapi/digest.js'
import { type BlobName, blobDigest, parseReadName } from '../../reapi/resource-name.js'
import { readBytes, type Store } from '../../store/store.js'
import { join } from '../../stream/join.js'
import { isWhole, type Path, type Range } from '../../stream/path.js'
import { collect, run } from '../../stream/run.js'
import { shortened } from '../blob.js'
import { compressedReader } from '../compressed.js'
import { inInstance, instanceOf, servedCompressor } from '../instance.js'
import { send } from '../send.js'
import type { ByteStreamOptions } from './options.js'
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
      const path = await compressedReader(cas, digest, { offset: range.offset, compressor }, call)
      const transfer: Path = [...path, new ResponseSink(responses, maxReadChunkBytes)]
      // What is short does not earn back what pipeline() costs to set up.
      await (digest.sizeBytes <= maxReadChunkBytes ? join(transfer, call.signal) : run(transfer, call.signal))
      return
    }
    const expectedBytes = Math.min(digest.sizeBytes - range.offset, range.limit)
    if (expectedBytes <= maxReadChunkBytes) {
      const data = await readAtOnce(cas, digest, range, expectedBytes, call)
      if (data.length < expectedBytes) throw shortened(digest, range.offset + data.length)
      if (data.length > 0) await send(responses, { data })
      return
    }
    const path = await cas.reader(digest, range, call)
    const onShort = (sentBytes: number): StatusError | undefined =>
      sentBytes < expectedBytes ? shortened(digest, range.offset + sentBytes) : undefined
    await run([...path, new ResponseSink(responses, maxReadChunkBytes, onShort)], call.signal)
  }

/** Most blobs are one message: they need neither a pipeline nor, when they are wanted whole, stages. */
const readAtOnce = async (cas: Store, digest: Digest, range: Range, maxBytes: number, call: Call): Promise<Buffer> =>
  isWhole(range, digest.sizeBytes)
    ? readBytes(cas, digest, maxBytes, call)
    : collect(await cas.reader(digest, range, call), { maxBytes, signal: call.signal })

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
