import { blobDigest, parseWriteName } from '../../reapi/resource-name.js'
import { checkBlobSize, type Instances, instanceOf, servedCompressor } from '../instance.js'
import type { ByteStreamInstance } from './options.js'
import type { UploadTarget } from './upload.js'

export interface WriteTarget extends UploadTarget {
  readonly instanceName: string
}

/** The instance, store and digest that a resource name refers to. INVALID_ARGUMENT if the name is not valid here. */
export const writeTarget = (instances: Instances<ByteStreamInstance>, resourceName: string): WriteTarget => {
  const parsed = parseWriteName(resourceName)
  const { instanceName, uuid } = parsed
  const instance = instanceOf(instances, instanceName)
  const { cas, digestFunctions, parkedForMs } = instance
  const compressor = servedCompressor(instance, parsed.compressor)
  const digest = blobDigest(parsed, digestFunctions)
  checkBlobSize(instance, digest)
  return {
    name: JSON.stringify([instanceName, uuid, compressor?.name, digest.key]),
    instanceName,
    cas,
    digest,
    compressor,
    // A client resumes a compressed upload with a new compressed stream at an offset of the uncompressed blob (REAPI,
    // Write). The state behind the decoder would have to be kept for that. No known client does it, so it starts again.
    isResumable: compressor === undefined,
    parkedForMs,
  }
}
