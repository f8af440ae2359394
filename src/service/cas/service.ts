import type { Service } from '../../rpc/rpc.js'
import { batchReadBlobs } from './batch-read-blobs.js'
import { batchUpdateBlobs } from './batch-update-blobs.js'
import { findMissingBlobs } from './find-missing-blobs.js'
import { getTree } from './get-tree.js'
import type { CasOptions } from './options.js'
import { spliceBlob } from './splice-blob.js'
import { splitBlob } from './split-blob.js'

/** ContentAddressableStorage. If an instance does not split blobs, SplitBlob and SpliceBlob are UNIMPLEMENTED there. */
export const casService = (options: CasOptions): Service => ({
  name: 'build.bazel.remote.execution.v2.ContentAddressableStorage',
  instances: options.instances,
  unary: {
    BatchUpdateBlobs: batchUpdateBlobs(options),
    BatchReadBlobs: batchReadBlobs(options),
    SplitBlob: splitBlob(options),
  },
  unaryBytes: { FindMissingBlobs: findMissingBlobs(options), SpliceBlob: spliceBlob(options) },
  serverStreaming: { GetTree: getTree(options) },
})
