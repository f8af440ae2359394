import type { Check } from './check.js'
import { batchReadBlobsChecks } from './checks/batch-read-blobs.js'
import { batchUpdateBlobsChecks } from './checks/batch-update-blobs.js'
import { byteStreamReadChecks } from './checks/bytestream-read.js'
import { byteStreamWriteChecks } from './checks/bytestream-write.js'
import { capabilitiesChecks } from './checks/capabilities.js'
import { compressedBlobsChecks } from './checks/compressed-blobs.js'
import { digestChecks } from './checks/digest.js'
import { findMissingBlobsChecks } from './checks/find-missing-blobs.js'
import { instanceNameChecks } from './checks/instance-name.js'
import { queryWriteStatusChecks } from './checks/query-write-status.js'

/** Every check, in the order of the protocol's table of requirements. */
export const checks: readonly Check[] = [
  ...instanceNameChecks,
  ...digestChecks,
  ...capabilitiesChecks,
  ...findMissingBlobsChecks,
  ...batchUpdateBlobsChecks,
  ...batchReadBlobsChecks,
  ...byteStreamWriteChecks,
  ...queryWriteStatusChecks,
  ...byteStreamReadChecks,
  ...compressedBlobsChecks,
]
