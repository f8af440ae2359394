import { StatusError } from '../../base/status-error.js'
import { allBytes, shortened } from '../../content/read-blob.js'
import { windowsOf } from '../../ledger/windows.js'
import type { ReadRequest } from '../../proto/generated/google.bytestream.js'
import type { Compressor } from '../../reapi/compressor.js'
import type { Digest } from '../../reapi/digest.js'
import { logStreamIn } from '../../reapi/log-stream-name.js'
import { type BlobName, blobDigest, parseReadName } from '../../reapi/resource-name.js'
import type { Responses, ServedCall } from '../../rpc/rpc.js'
import { Blob } from '../../stream/blob/blob.js'
import { type BlobForm, streamsOf } from '../../stream/blob/form.js'
import { compressionOf } from '../../stream/compression/compression.js'
import { join } from '../../stream/join.js'
import type { Range } from '../../stream/path.js'
import { inInstance, instanceOf, servedCompressor } from '../instance.js'
import { send } from '../send.js'
import type { SendBlob } from './log-stream.js'
import { checkNameHeader } from './name-header.js'
import type { ByteStreamOptions } from './options.js'
import { ResponseSink } from './response-sink.js'
import { type Sending, sendFile } from './send-file.js'

/** Streams a blob or the requested part of it. NOT_FOUND is sent before the first byte. */
export const read =
  ({ instances, logStreams }: ByteStreamOptions) =>
  async (request: ReadRequest, rpc: ServedCall, responses: Responses): Promise<void> => {
    checkNameHeader(rpc, request.resourceName)
    const log = logStreams && logStreamIn(request.resourceName)
    if (log !== undefined) {
      const { cas, maxReadChunkBytes: maxChunkBytes } = instanceOf(instances, log.instanceName)
      const call = inInstance(rpc, log.instanceName)
      const sendBlob: SendBlob = async (digest, offset, limit) =>
        sendPlain(
          await cas.get(digest, { offset, limit }, call),
          digest,
          { offset, limit },
          { responses, maxChunkBytes, call },
        )
      return logStreams?.read(log, request, rpc, { responses, sendBlob })
    }
    const name = parseReadName(request.resourceName)
    const instance = instanceOf(instances, name.instanceName)
    const { cas, digestFunctions, maxReadChunkBytes } = instance
    const compressor = servedCompressor(instance, name.compressor)
    rpc.compressesResponses = compressor === undefined
    const digest = blobDigest(name, digestFunctions)
    const range = rangeOf(request, name, digest)
    const call = inInstance(rpc, name.instanceName)
    const blob = await cas.get(digest, { ...range, wantedAs: compressor?.name }, call)
    const sending = { responses, maxChunkBytes: maxReadChunkBytes, call }
    if (compressor === undefined) await sendPlain(blob, digest, range, sending)
    else await sendCompressed(blob, digest, range, compressor, sending)
  }

const sendPlain = async (blob: Blob, digest: Digest, range: Range, sending: Sending): Promise<void> => {
  const { maxChunkBytes, call } = sending
  const expectedBytes = Math.min(digest.sizeBytes - range.offset, range.limit)
  if (expectedBytes <= maxChunkBytes) {
    await sendBytes(await allBytes(blob, digest, range, call), sending)
    return
  }
  const sentBytes = await sendBlob(blob, sending)
  if (sentBytes < expectedBytes) throw shortened(digest, range.offset + sentBytes)
}

/** Sends the stored form if it has the requested encoding. Else compresses; a small blob is compressed in one step. */
const sendCompressed = async (
  blob: Blob,
  digest: Digest,
  range: Range,
  { name }: Compressor,
  sending: Sending,
): Promise<void> => {
  const isSmall = !blob.isIn(name) && digest.sizeBytes <= compressionOf({ name }).atOnceBytes
  if (!isSmall) await sendBlob(blob.as(name), sending)
  else
    await sendForm(
      await Blob.ofBytes(await allBytes(blob, digest, range, sending.call))
        .as(name)
        .take(),
      sending,
    )
}

/** Returns the number of bytes sent. A client that reads slowly has memory for it reserved. */
const sendBlob = async (blob: Blob, sending: Sending): Promise<number> => {
  const windows = await windowsOf(blob, sending.call.held, sending.call.signal)
  try {
    return await sendForm(await blob.take(), sending)
  } finally {
    windows?.release()
  }
}

/** Returns the number of bytes sent. */
const sendForm = async (form: BlobForm, sending: Sending): Promise<number> => {
  if (form.kind === 'file') return sendFile(form.file, sending)
  if (form.kind === 'bytes') return sendBytes(form.bytes, sending)
  const sink = new ResponseSink(sending.responses, sending.maxChunkBytes)
  await join([...streamsOf(form), sink], sending.call.signal)
  return sink.sentBytes
}

const sendBytes = async (bytes: Buffer, { responses, maxChunkBytes }: Sending): Promise<number> => {
  for (let at = 0; at < bytes.length; at += maxChunkBytes) {
    await send(responses, { data: bytes.subarray(at, at + maxChunkBytes) })
  }
  return bytes.length
}

/**
 * Offsets count uncompressed bytes, also in compressed reads. A limit is not allowed in a compressed read (REAPI,
 * Read).
 */
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
