import { boundedMap } from '../../base/bounded-map.js'
import type { Call } from '../../base/call.js'
import type { RpcCall } from '../../base/rpc.js'
import { codeName, StatusError } from '../../base/status-error.js'
import type {
  BatchUpdateBlobsRequest,
  BatchUpdateBlobsRequestRequest,
  BatchUpdateBlobsResponseInput,
} from '../../proto/generated/build.bazel.remote.execution.v2.js'
import { compressorOfValue, IDENTITY } from '../../reapi/compressor.js'
import type { Digest } from '../../reapi/digest.js'
import { BLOB_LANES } from '../blob.js'
import { writeUpload } from '../compressed.js'
import { type CasInstance, inInstance, instanceOf, servedCompressor } from '../instance.js'
import { checkBlobSize, requestDigests } from '../request-digests.js'
import type { CasOptions } from './options.js'
import { entryBytes, ResponseBudget } from './response-budget.js'

/** Every entry succeeds or fails by itself; only what makes the request as a whole impossible fails the call. */
export const batchUpdateBlobs =
  ({ instances, maxBatchBytes, maxResponseBytes }: CasOptions) =>
  async (request: BatchUpdateBlobsRequest, rpc: RpcCall): Promise<BatchUpdateBlobsResponseInput> => {
    const instance = instanceOf(instances, request.instanceName)
    const call = inInstance(rpc, request.instanceName)
    const digests = requestDigests(
      request.requests.map(({ digest }) => digest),
      { value: request.digestFunction, served: instance.digestFunctions },
      'requests.digest',
    )
    checkTotal(digests, request.requests, { maxBatchBytes, maxResponseBytes })
    const failures = await boundedMap(request.requests, BLOB_LANES, async (entry, index) => {
      const digest = digests[index]
      return digest === undefined ? undefined : update(instance, digest, entry, call)
    })
    const budget = new ResponseBudget(maxResponseBytes - digests.reduce((sum, digest) => sum + entryBytes(digest), 0))
    return {
      responses: digests.map((digest, index) => {
        const { code = 0, message = '' } = failures[index] ?? {}
        // The code is what clients act on; the text goes first when a huge batch fails as a whole.
        return { digest, status: budget.take(Buffer.byteLength(message)) ? { code, message } : { code } }
      }),
    }
  }

const checkTotal = (
  digests: readonly Digest[],
  entries: readonly BatchUpdateBlobsRequestRequest[],
  { maxBatchBytes, maxResponseBytes }: Pick<CasOptions, 'maxBatchBytes' | 'maxResponseBytes'>,
): void => {
  let totalBytes = 0
  let answerBytes = 0
  for (const [index, digest] of digests.entries()) {
    const entry = entries[index]
    // A size that lies about its bytes must not get them past the limit.
    totalBytes += Math.max(digest.sizeBytes, entry?.compressor === IDENTITY ? entry.data.length : 0)
    answerBytes += entryBytes(digest)
  }
  if (totalBytes > maxBatchBytes) throw tooMuch(`${totalBytes} bytes`, maxBatchBytes)
  if (answerBytes > maxResponseBytes) throw tooMuch(`${digests.length} blobs`, maxBatchBytes)
}

const tooMuch = (what: string, maxBatchBytes: number): StatusError =>
  new StatusError(
    'INVALID_ARGUMENT',
    `${what} are too much for BatchUpdateBlobs, expected at most ${maxBatchBytes} bytes: use ByteStream.Write`,
  )

const update = async (
  instance: CasInstance,
  digest: Digest,
  { data, compressor: value }: BatchUpdateBlobsRequestRequest,
  call: Call,
): Promise<StatusError | undefined> => {
  try {
    checkBlobSize(digest, instance.maxBlobBytes)
    const compressor = servedCompressor(instance, compressorOfValue(value))
    await writeUpload(instance.cas, digest, { bytes: data, compressor }, call)
    return undefined
  } catch (thrown) {
    if (call.signal.aborted) throw thrown
    const error = StatusError.from(thrown)
    if (error.code >= 13)
      call.log.warn('could not store a blob', { digest: digest.key, code: codeName(error.code), error })
    return error
  }
}
