import { blobDigest, parseWriteName } from '../../reapi/resource-name.js'
import { type Instances, instanceOf, servedCompressor } from '../instance.js'
import type { ByteStreamInstance } from './options.js'
import type { UploadTarget } from './upload.js'

export interface WriteTarget extends UploadTarget {
  readonly instanceName: string
}

/** Where the upload of this resource name goes. INVALID_ARGUMENT when it goes nowhere. */
export const writeTarget = (instances: Instances<ByteStreamInstance>, resourceName: string): WriteTarget => {
  const parsed = parseWriteName(resourceName)
  const { instanceName, uuid } = parsed
  const instance = instanceOf(instances, instanceName)
  const { cas, digestFunctions, parkedForMs } = instance
  const compressor = servedCompressor(instance, parsed.compressor)
  const digest = blobDigest(parsed, digestFunctions)
  return {
    name: JSON.stringify([instanceName, uuid, compressor?.name, digest.key]),
    instanceName,
    cas,
    digest,
    compressor,
    // A compressed upload is resumed with a new compressed stream at an offset of the uncompressed blob (REAPI, Write):
    // that would mean to keep it behind its decoder. Nobody is known to do it, so it starts again.
    isResumable: compressor === undefined,
    parkedForMs,
  }
}
