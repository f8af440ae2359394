import type { Check } from '../requirements/check.js'
import { requirements } from '../requirements/requirements.js'
import { getActionResultChecks } from './action-cache/get-action-result.js'
import { resultEdgeChecks } from './action-cache/result-edges.js'
import { updateActionResultChecks } from './action-cache/update-action-result.js'
import { compressedBlobsChecks } from './bytestream/compressed-blobs.js'
import { largeBlobChecks } from './bytestream/large-blobs.js'
import { queryWriteStatusChecks } from './bytestream/query-write-status.js'
import { byteStreamReadChecks } from './bytestream/read.js'
import { byteStreamUploadChecks } from './bytestream/uploads.js'
import { byteStreamWriteChecks } from './bytestream/write.js'
import { batchReadBlobsChecks } from './cas/batch-read-blobs.js'
import { batchUpdateBlobsChecks } from './cas/batch-update-blobs.js'
import { blobEdgeChecks } from './cas/blob-edges.js'
import { findMissingBlobsChecks } from './cas/find-missing-blobs.js'
import { getTreeChecks } from './cas/get-tree.js'
import { retentionChecks } from './cas/retention.js'
import { splitSpliceChecks } from './cas/split-splice.js'
import { buildClientChecks } from './clients/builds.js'
import { chunkClientChecks } from './clients/chunks.js'
import { actionEdgeChecks } from './execution/action-edges.js'
import { commandChecks } from './execution/command.js'
import { executionDigestChecks } from './execution/digests.js'
import { executeChecks } from './execution/execute.js'
import { missingInputChecks } from './execution/missing-inputs.js'
import { operationsChecks } from './execution/operations.js'
import { platformAndVersionChecks } from './execution/platform.js'
import { executeRefusalChecks } from './execution/refusals.js'
import { executionResultChecks } from './execution/results.js'
import { waitExecutionChecks } from './execution/wait-execution.js'
import { everyCacheChecks } from './http/every-cache.js'
import { toolCacheChecks } from './http/tools.js'
import { buildEventChecks } from './other-services/build-events.js'
import { logStreamChecks } from './other-services/logstream.js'
import { remoteAssetChecks } from './other-services/remote-asset.js'
import { outputEdgeChecks } from './outputs/output-edges.js'
import { outputPathChecks } from './outputs/output-paths.js'
import { outputTreeChecks } from './outputs/output-trees.js'
import { outputChecks } from './outputs/outputs.js'
import { capabilitiesChecks } from './transport/capabilities.js'
import { digestChecks } from './transport/digest.js'
import { generalTransportChecks } from './transport/general-transport.js'
import { healthChecks, reflectionChecks } from './transport/health-reflection.js'
import { instanceNameChecks } from './transport/instance-name.js'
import { requestMetadataChecks } from './transport/request-metadata.js'

const all: readonly Check[] = [
  ...generalTransportChecks,
  ...instanceNameChecks,
  ...digestChecks,
  ...capabilitiesChecks,
  ...platformAndVersionChecks,
  ...findMissingBlobsChecks,
  ...batchUpdateBlobsChecks,
  ...batchReadBlobsChecks,
  ...byteStreamWriteChecks,
  ...byteStreamUploadChecks,
  ...queryWriteStatusChecks,
  ...byteStreamReadChecks,
  ...compressedBlobsChecks,
  ...largeBlobChecks,
  ...getTreeChecks,
  ...splitSpliceChecks,
  ...getActionResultChecks,
  ...updateActionResultChecks,
  ...retentionChecks,
  ...executeChecks,
  ...executionResultChecks,
  ...missingInputChecks,
  ...executionDigestChecks,
  ...executeRefusalChecks,
  ...commandChecks,
  ...outputPathChecks,
  ...outputChecks,
  ...outputTreeChecks,
  ...blobEdgeChecks,
  ...resultEdgeChecks,
  ...actionEdgeChecks,
  ...outputEdgeChecks,
  ...waitExecutionChecks,
  ...operationsChecks,
  ...requestMetadataChecks,
  ...remoteAssetChecks,
  ...logStreamChecks,
  ...buildEventChecks,
  ...healthChecks,
  ...reflectionChecks,
  ...chunkClientChecks,
  ...buildClientChecks,
  ...everyCacheChecks,
  ...toolCacheChecks,
]

const rank = new Map([...requirements.keys()].map((id, index) => [id, index]))

/** Every check, in the order of the requirements table. */
export const checks: readonly Check[] = [...all].sort((a, b) => (rank.get(a.id) ?? 0) - (rank.get(b.id) ?? 0))
