import { Code, codeName, StatusError } from '../../base/status-error.js'
import type { BlobEntry } from '../../blobs/store.js'
import type { SparingLog } from '../../log/sparing-log.js'
import type {
  BatchUpdateBlobsRequest,
  BatchUpdateBlobsRequestRequest,
  BatchUpdateBlobsResponseInput,
} from '../../proto/generated/build.bazel.remote.execution.v2.js'
import { compressorOfValue, IDENTITY } from '../../reapi/compressor.js'
import type { Digest } from '../../reapi/digest.js'
import { type Call, cancellation } from '../../rpc/call.js'
import type { RpcCall } from '../../rpc/rpc.js'
import { STAGE_BYTES } from '../../stream/path.js'
import { type CasInstance, checkBlobSize, servedCompressor } from '../instance.js'
import { openRequest, requestDigests } from '../request.js'
import { uploaded } from '../uploaded.js'
import { Windows } from '../windows.js'
import type { CasOptions } from './options.js'
import { entryBytes, ResponseBudget } from './response-budget.js'

/** Each entry succeeds or fails on its own. The call fails only if the request as a whole is invalid or too large. */
export const batchUpdateBlobs =
  ({ instances, maxBatchBytes, maxResponseBytes, faults }: CasOptions) =>
  async (request: BatchUpdateBlobsRequest, rpc: RpcCall): Promise<BatchUpdateBlobsResponseInput> => {
    const { instance, call, functions } = openRequest(instances, request, rpc)
    const digests = requestDigests(
      request.requests.map(({ digest }) => digest),
      functions,
      'requests.digest',
    )
    checkTotal(digests, request.requests, { maxBatchBytes, maxResponseBytes })
    const failures = await updateAll(instance, digests, request.requests, call)
    logFaults(failures, digests, faults)
    const budget = new ResponseBudget(maxResponseBytes - digests.reduce((sum, digest) => sum + entryBytes(digest), 0))
    return {
      responses: digests.map((digest, index) => {
        const { code = 0, message = '' } = failures[index] ?? {}
        // Clients act on the code, so a response that is full drops texts first.
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
    // The larger of both counts: a digest with a false size must not bypass the limit.
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

/** Stores all valid entries in one batch. Returns the failures by index. */
const updateAll = async (
  instance: CasInstance,
  digests: readonly Digest[],
  entries: readonly BatchUpdateBlobsRequestRequest[],
  call: Call,
): Promise<readonly (StatusError | undefined)[]> => {
  const failures = new Array<StatusError | undefined>(digests.length)
  const blobs: BlobEntry[] = []
  const indexes: number[] = []
  const stageCount = entries.filter(
    ({ compressor }, index) => compressor !== IDENTITY && isLarge(digests[index]),
  ).length
  const windows = stageCount === 0 ? undefined : await Windows.several(call, stageCount)
  for (const [index, { data, compressor: value }] of entries.entries()) {
    const digest = digests[index] as Digest
    const { sizeBytes } = digest
    try {
      checkBlobSize(instance, digest)
      const compressor = servedCompressor(instance, compressorOfValue(value))
      blobs[indexes.push(index) - 1] = { digest, blob: uploaded(data, { compressor, sizeBytes, windows }) }
    } catch (error) {
      failures[index] = StatusError.from(error)
    }
  }
  const outcomes = await instance.cas.putAll(blobs, call).finally(() => windows?.release())
  for (const [at, index] of indexes.entries()) failures[index] = outcomes[at]
  if (call.signal.aborted) throw cancellation(call.signal)
  return failures
}

/** Smaller blobs are decoded in one step, without a window. */
const isLarge = (digest: Digest | undefined): boolean => digest !== undefined && digest.sizeBytes > STAGE_BYTES

const logFaults = (
  failures: readonly (StatusError | undefined)[],
  digests: readonly Digest[],
  faults: SparingLog,
): void => {
  for (const [index, error] of failures.entries()) {
    if (error === undefined || error.code < Code.INTERNAL) continue
    faults.warn('could not store a blob', { digest: digests[index]?.key, code: codeName(error.code), error })
  }
}
