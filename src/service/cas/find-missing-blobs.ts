import type { ServedCall } from '../../base/rpc.js'
import { StatusError } from '../../base/status-error.js'
import { codec } from '../../proto/codec.js'
import { packMissing, unpackFindMissing } from '../../proto/find-missing-codec.js'
import { resolveDigestFunction } from '../../reapi/digest.js'
import { DigestBatch } from '../../reapi/digest-batch.js'
import { missingOf } from '../../store/store.js'
import { inInstance, instanceOf } from '../instance.js'
import { requestDigests } from '../request-digests.js'
import type { CasOptions } from './options.js'

const requestCodec = codec('build.bazel.remote.execution.v2.FindMissingBlobsRequest')
const responseCodec = codec('build.bazel.remote.execution.v2.FindMissingBlobsResponse')

/** Absence is data, never an error. What is present counts as used, which is how clients extend its life. */
export const findMissingBlobs =
  (options: CasOptions) =>
  async (message: Buffer, call: ServedCall): Promise<Buffer> =>
    (await findPacked(message, options, call)) ?? findEach(message, options, call)

/** Undefined of a request that is not as clients write it, or has hashes of another length than its function's. */
const findPacked = async (
  message: Buffer,
  { instances, maxResponseBytes }: CasOptions,
  call: ServedCall,
): Promise<Buffer | undefined> => {
  const request = unpackFindMissing(message)
  if (request === undefined) return undefined
  const { instanceName, firstHash, words, count } = request
  // Its line in the log: what was asked for, of several the first.
  call.note({ instance: instanceName, blobs: count, digest: firstHash })
  const { cas, digestFunctions } = instanceOf(instances, instanceName)
  const digestFunction = resolveDigestFunction(request.digestFunction, firstHash, digestFunctions)
  if (digestFunction.hexLength !== firstHash.length) return undefined
  const asked = new DigestBatch(digestFunction, words, count)
  const missing = await cas.findMissing(asked, inInstance(call, instanceName))
  checkAnswer(missing.count * (digestFunction.hexLength + DIGEST_OVERHEAD_BYTES), asked.count, maxResponseBytes)
  return packMissing(request, missing)
}

const findEach = async (
  message: Buffer,
  { instances, maxResponseBytes }: CasOptions,
  call: ServedCall,
): Promise<Buffer> => {
  const request = requestCodec.decode(message)
  const [first] = request.blobDigests
  call.note({ instance: request.instanceName, blobs: request.blobDigests.length, digest: first?.hash })
  const { cas, digestFunctions } = instanceOf(instances, request.instanceName)
  const functions = { value: request.digestFunction, served: digestFunctions }
  const asked = requestDigests(request.blobDigests, functions, 'blob_digests')
  if (asked.length === 0) return responseCodec.encode({})
  const missing = await missingOf(cas, asked, inInstance(call, request.instanceName))
  const answerBytes = missing.reduce((bytes, { hash }) => bytes + hash.length + DIGEST_OVERHEAD_BYTES, 0)
  checkAnswer(answerBytes, asked.length, maxResponseBytes)
  return responseCodec.encode({ missingBlobDigests: missing })
}

const checkAnswer = (answerBytes: number, askedCount: number, maxResponseBytes: number): void => {
  if (answerBytes <= maxResponseBytes) return
  throw new StatusError(
    'INVALID_ARGUMENT',
    `${askedCount} digests are too many for one request: the answer would exceed ${maxResponseBytes} bytes`,
  )
}

// Tags and lengths of the digest and its fields, and the longest size.
const DIGEST_OVERHEAD_BYTES = 14
