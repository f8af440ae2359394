import type { Check } from './check.js'
import { batchUpdateBlobsChecks } from './checks/batch-update-blobs.js'
import { findMissingBlobsChecks } from './checks/find-missing-blobs.js'

/** Every check, in the order of the protocol's table of requirements. */
export const checks: readonly Check[] = [...findMissingBlobsChecks, ...batchUpdateBlobsChecks]
