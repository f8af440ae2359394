import type { Compressor } from '../../reapi/compressor.js'
import { blobDigest, parseWriteName } from '../../reapi/resource-name.js'
import { type CasInstance, type Instances, instanceOf } from '../instance.js'
import type { UploadTarget } from './upload.js'

export interface WriteTarget extends UploadTarget {
  readonly instanceName: string
  readonly compressor: Compressor | undefined
  readonly maxBlobBytes: number
}

/** Where the upload of this resource name goes. INVALID_ARGUMENT when it goes nowhere. */
export const writeTarget = (instances: Instances<CasInstance>, resourceName: string): WriteTarget => {
  const parsed = parseWriteName(resourceName)
  const { instanceName, uuid, compressor } = parsed
  const { cas, digestFunctions, maxBlobBytes } = instanceOf(instances, instanceName)
  const digest = blobDigest(parsed, digestFunctions)
  return {
    name: JSON.stringify([instanceName, uuid, compressor?.name, digest.key]),
    instanceName,
    cas,
    digest,
    compressor,
    maxBlobBytes,
    // A compressed upload is resumed with a new compressed stream at an offset of the uncompressed blob (REAPI, Write):
    // that would mean to keep it behind its decoder. Nobody is known to do it, so it starts again.
    isResumable: compressor === undefined,
  }
}
