import type { Check } from './check.js'
import { batchReadBlobsChecks } from './checks/batch-read-blobs.js'
import { batchUpdateBlobsChecks } from './checks/batch-update-blobs.js'
import { buildEventChecks } from './checks/build-events.js'
import { byteStreamReadChecks } from './checks/bytestream-read.js'
import { byteStreamUploadChecks } from './checks/bytestream-uploads.js'
import { byteStreamWriteChecks } from './checks/bytestream-write.js'
import { capabilitiesChecks } from './checks/capabilities.js'
import { commandChecks } from './checks/command.js'
import { compressedBlobsChecks } from './checks/compressed-blobs.js'
import { digestChecks } from './checks/digest.js'
import { executeChecks } from './checks/execute.js'
import { executeRefusalChecks } from './checks/execute-refusals.js'
import { executionDigestChecks } from './checks/execution-digests.js'
import { executionResultChecks } from './checks/execution-results.js'
import { findMissingBlobsChecks } from './checks/find-missing-blobs.js'
import { generalTransportChecks } from './checks/general-transport.js'
import { getActionResultChecks } from './checks/get-action-result.js'
import { getTreeChecks } from './checks/get-tree.js'
import { healthChecks, reflectionChecks } from './checks/health-reflection.js'
import { instanceNameChecks } from './checks/instance-name.js'
import { largeBlobChecks } from './checks/large-blobs.js'
import { logStreamChecks } from './checks/logstream.js'
import { missingInputChecks } from './checks/missing-inputs.js'
import { outputPathChecks } from './checks/output-paths.js'
import { outputTreeChecks } from './checks/output-trees.js'
import { outputChecks } from './checks/outputs.js'
import { platformAndVersionChecks } from './checks/platform.js'
import { queryWriteStatusChecks } from './checks/query-write-status.js'
import { remoteAssetChecks } from './checks/remote-asset.js'
import { requestMetadataChecks } from './checks/request-metadata.js'
import { splitSpliceChecks } from './checks/split-splice.js'
import { updateActionResultChecks } from './checks/update-action-result.js'
import { operationsChecks, waitExecutionChecks } from './checks/wait-execution.js'
import { requirements } from './requirements.js'

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
  ...executeChecks,
  ...executionResultChecks,
  ...missingInputChecks,
  ...executionDigestChecks,
  ...executeRefusalChecks,
  ...commandChecks,
  ...outputPathChecks,
  ...outputChecks,
  ...outputTreeChecks,
  ...waitExecutionChecks,
  ...operationsChecks,
  ...requestMetadataChecks,
  ...remoteAssetChecks,
  ...logStreamChecks,
  ...buildEventChecks,
  ...healthChecks,
  ...reflectionChecks,
]

const rank = new Map([...requirements.keys()].map((id, index) => [id, index]))

/** Every check, in the order of the protocol's table of requirements. */
export const checks: readonly Check[] = [...all].sort((a, b) => (rank.get(a.id) ?? 0) - (rank.get(b.id) ?? 0))
