import { StatusError } from '../../base/status-error.js'
import { missingOf } from '../../blobs/store.js'
import type { SplitBlobRequest, SplitBlobResponseInput } from '../../proto/generated/build.bazel.remote.execution.v2.js'
import type { RpcCall } from '../../rpc/rpc.js'
import type { CasInstance } from '../instance.js'
import { openRequest, requestDigest } from '../request.js'
import type { ChunkedBlobs } from './chunked-blobs.js'
import type { CasOptions } from './options.js'
import { entryBytes } from './response-budget.js'

/**
 * The chunks of a blob; they are in the CAS before the answer. The chunking function of the request is only a
 * preference.
 */
export const splitBlob =
  ({ instances, maxResponseBytes }: CasOptions) =>
  async (request: SplitBlobRequest, rpc: RpcCall): Promise<SplitBlobResponseInput> => {
    const { instance, call, functions } = openRequest(instances, request, rpc)
    const chunked = chunkedBlobsOf(instance, request.instanceName)
    const digest = requestDigest(request.blobDigest, functions, 'blob_digest')
    const [missing] = await missingOf(instance.cas, [digest], call)
    if (missing !== undefined) throw new StatusError('NOT_FOUND', `blob ${digest.key} is not in the CAS`)
    const mostInAnswer = Math.floor(maxResponseBytes / entryBytes(digest))
    const maxChunkCount = Math.min(chunked.maxChunkCount, mostInAnswer)
    const { chunks, chunkingFunction } = await chunked.listOf(digest, instance.cas, maxChunkCount, call)
    return { chunkDigests: [...chunks], chunkingFunction }
  }

export const chunkedBlobsOf = ({ chunked }: CasInstance, instanceName: string): ChunkedBlobs => {
  if (chunked !== undefined) return chunked
  throw new StatusError('UNIMPLEMENTED', `instance ${JSON.stringify(instanceName)} neither splits nor splices blobs`)
}
