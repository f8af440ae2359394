import { StatusError } from '../../base/status-error.js'
import { codec } from '../../proto/codec.js'
import { type PackedFindMissing, packMissing, unpackFindMissing } from '../../proto/find-missing-codec.js'
import type { FindMissingBlobsRequest } from '../../proto/generated/build.bazel.remote.execution.v2.js'
import { resolveDigestFunction } from '../../reapi/digest.js'
import { DigestBatch } from '../../reapi/digest-batch.js'
import type { ServedCall } from '../../rpc/rpc.js'
import { type Functions, openRequest, requestDigests } from '../request.js'
import type { CasOptions } from './options.js'

const requestCodec = codec('build.bazel.remote.execution.v2.FindMissingBlobsRequest')
const responseCodec = codec('build.bazel.remote.execution.v2.FindMissingBlobsResponse')

/**
 * Absent blobs are part of the answer, never an error. The request counts as a use of each present blob and extends its
 * lifetime.
 */
export const findMissingBlobs =
  ({ instances, maxResponseBytes }: CasOptions) =>
  async (message: Buffer, rpc: ServedCall): Promise<Buffer> => {
    const packed = unpackFindMissing(message)
    const request = packed ?? requestCodec.decode(message)
    rpc.note({ instance: request.instanceName, ...noted(request) })
    const { instance, call, functions } = openRequest(instances, request, rpc)
    // A store without leases never asks for it, and lease extensions are counted all the same.
    void call.invocation
    const packedBatch = packed && batchOf(packed, functions)
    const digests = () => ('blobDigests' in request ? request : requestCodec.decode(message)).blobDigests
    const asked = packedBatch ?? DigestBatch.of(requestDigests(digests(), functions, 'blob_digests'))
    const missing = asked.count === 0 ? asked : await instance.cas.findMissing(asked, call)
    checkAnswer(missing.count * (missing.function.hexLength + DIGEST_OVERHEAD_BYTES), asked.count, maxResponseBytes)
    if (packed !== undefined && packedBatch !== undefined) return packMissing(packed, missing)
    return responseCodec.encode({ missingBlobDigests: missing.digests() })
  }

/** Fields for the log line of the request: number of digests and the first one. */
const noted = (request: PackedFindMissing | FindMissingBlobsRequest) =>
  'blobDigests' in request
    ? { blobs: request.blobDigests.length, digest: request.blobDigests[0]?.hash }
    : { blobs: request.count, digest: request.firstHash }

/** Undefined if the length of the hashes does not fit the digest function; the slower codec then reports the error. */
const batchOf = (
  { digestFunction, firstHash, words, count }: PackedFindMissing,
  functions: Functions,
): DigestBatch | undefined => {
  const of = resolveDigestFunction(digestFunction, firstHash, functions.served)
  return of.hexLength === firstHash.length ? new DigestBatch(of, words, count) : undefined
}

const checkAnswer = (answerBytes: number, askedCount: number, maxResponseBytes: number): void => {
  if (answerBytes <= maxResponseBytes) return
  throw new StatusError(
    'INVALID_ARGUMENT',
    `${askedCount} digests are too many for one request: the answer would exceed ${maxResponseBytes} bytes`,
  )
}

// Tags and lengths of the digest and its fields, and the longest encoded size_bytes.
const DIGEST_OVERHEAD_BYTES = 14
