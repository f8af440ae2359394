import { codeName, isStatus, StatusError } from '../../base/status-error.js'
import type { Store } from '../../blobs/store.js'
import { allBytes, readBlob } from '../../content/read-blob.js'
import type { SparingLog } from '../../log/sparing-log.js'
import type {
  BatchReadBlobsRequest,
  BatchReadBlobsResponseInput,
  BatchReadBlobsResponseResponseInput,
} from '../../proto/generated/build.bazel.remote.execution.v2.js'
import { type Compressor, IDENTITY } from '../../reapi/compressor.js'
import type { Digest } from '../../reapi/digest.js'
import { type Call, cancellation } from '../../rpc/call.js'
import type { ServedCall } from '../../rpc/rpc.js'
import type { Blob } from '../../stream/blob/blob.js'
import { compressed, compressionOf } from '../../stream/compression/compression.js'
import { parseZstdFrame } from '../../stream/compression/zstd-frame.js'
import { WHOLE } from '../../stream/path.js'
import { boundedMap, LANES } from '../../work/bounded-map.js'
import { openRequest, requestDigests } from '../request.js'
import { compressorFor } from '../windows.js'
import type { CasOptions } from './options.js'
import { entryBytes, ResponseBudget } from './response-budget.js'

type Entry = BatchReadBlobsResponseResponseInput

/** One entry for each distinct digest of the request. Each entry has a status, also if it is OK. */
export const batchReadBlobs =
  ({ instances, maxBatchBytes, maxResponseBytes, faults }: CasOptions) =>
  async (request: BatchReadBlobsRequest, rpc: ServedCall): Promise<BatchReadBlobsResponseInput> => {
    const { instance, call, functions } = openRequest(instances, request, rpc)
    const asked = requestDigests(request.digests, functions, 'digests')
    const digests = [...new Map(asked.map((digest) => [digest.key, digest])).values()]
    const totalBytes = totalOf(digests, maxBatchBytes)
    if (totalBytes > SMALL_BYTES) await rpc.reserveAnswer(totalBytes)
    const compressor = instance.compressors.find(({ value }) => request.acceptableCompressors.includes(value))
    const entries = await boundedMap(digests, LANES, (digest) =>
      read({ cas: instance.cas, compressor, call, faults }, digest),
    )
    return { responses: fitting(digests, entries, maxResponseBytes) }
  }

/** A smaller answer is built without a reservation of memory. */
const SMALL_BYTES = 64 * 1024

const totalOf = (digests: readonly Digest[], maxBatchBytes: number): number => {
  const totalBytes = digests.reduce((sum, { sizeBytes }) => sum + sizeBytes, 0)
  if (totalBytes <= maxBatchBytes) return totalBytes
  const expected = `expected at most ${maxBatchBytes}: use ByteStream.Read`
  throw new StatusError('INVALID_ARGUMENT', `${totalBytes} bytes are too much for BatchReadBlobs, ${expected}`)
}

interface Reading {
  readonly cas: Store
  readonly compressor: Compressor | undefined
  readonly call: Call
  readonly faults: SparingLog
}

const read = async ({ cas, compressor, call, faults }: Reading, digest: Digest): Promise<Entry> => {
  // Stores return blobs in memory without a check of the signal.
  if (call.signal.aborted) throw cancellation(call.signal)
  try {
    const isSmall = digest.sizeBytes < LEAST_WORTH_COMPRESSING_BYTES
    const blob = await cas.get(digest, { ...WHOLE, wantedAs: isSmall ? undefined : compressor?.name }, call)
    const isKept = compressor !== undefined && !isSmall && blob.isIn(compressor.name)
    if (isKept) {
      const data = await readKept(blob, digest, compressor, call)
      if (data !== undefined) return { digest, data, status: {}, compressor: compressor.value }
    }
    const bytes = isKept ? await readBlob(cas, digest, call) : await allBytes(blob, digest, WHOLE, call)
    // The status is set on success too, because Pants treats an entry without one as a failure.
    const plain = { digest, data: bytes, status: {}, compressor: IDENTITY }
    if (compressor === undefined || bytes.length < LEAST_WORTH_COMPRESSING_BYTES) return plain
    const data = await compressedFor(bytes, compressor, call)
    return data.length < bytes.length ? { digest, data, status: {}, compressor: compressor.value } : plain
  } catch (thrown) {
    if (call.signal.aborted) throw thrown
    const { code, message } = StatusError.from(thrown)
    if (!isStatus(thrown, 'NOT_FOUND')) {
      faults.warn('could not read a blob', { digest: digest.key, code: codeName(code), error: thrown })
    }
    return { digest, status: { code, message } }
  }
}

const compressedFor = async (bytes: Buffer, compressor: Compressor, call: Call): Promise<Buffer> => {
  if (bytes.length <= compressionOf(compressor).atOnceBytes) return compressed(bytes, compressor, call)
  const room = await compressorFor(call)
  return compressed(bytes, compressor, call).finally(() => room?.release())
}

/**
 * The blob in its stored form. Undefined if that is not smaller, or is not a single frame with its content size:
 * clients that decode in one step need the size.
 */
const readKept = async (
  blob: Blob,
  { sizeBytes }: Digest,
  { name }: Compressor,
  call: Call,
): Promise<Buffer | undefined> => {
  const data = await blob.as(name).bytes(2 * sizeBytes + KEPT_SLACK_BYTES, call)
  const frame = parseZstdFrame(data)
  const isWhole = frame?.kind === 'content' && frame.contentBytes === sizeBytes
  return isWhole && data.length < sizeBytes ? data : undefined
}

// Frames made by clients may be longer than their content, but by far less than this.
const KEPT_SLACK_BYTES = 1024 * 1024

// Below this size, the frame and the compressor field cost more than compression saves.
const LEAST_WORTH_COMPRESSING_BYTES = 128

/**
 * The limit of a batch counts blobs, the limit of clients counts messages. A batch just below the first limit may
 * exceed the second, because every entry has a digest and a status. Entries that do not fit get RESOURCE_EXHAUSTED, and
 * the client reads those blobs with ByteStream.Read.
 */
const fitting = (digests: readonly Digest[], entries: readonly Entry[], maxResponseBytes: number): Entry[] => {
  const fixedBytes = digests.reduce((sum, digest) => sum + entryBytes(digest), 0)
  if (fixedBytes > maxResponseBytes) {
    throw new StatusError('INVALID_ARGUMENT', `${digests.length} digests are too many for one BatchReadBlobs request`)
  }
  const budget = new ResponseBudget(maxResponseBytes - fixedBytes)
  return entries.map((entry) => {
    const sizeBytes = (entry.data?.length ?? 0) + Buffer.byteLength(entry.status?.message ?? '')
    if (budget.take(sizeBytes)) return entry
    if (entry.data === undefined) return { digest: entry.digest, status: { code: entry.status?.code } }
    return {
      digest: entry.digest,
      status: { code: RESOURCE_EXHAUSTED, message: budget.take(NO_ROOM.length) ? NO_ROOM : '' },
    }
  })
}

const RESOURCE_EXHAUSTED = 8
const NO_ROOM = 'the response is full: use ByteStream.Read'
