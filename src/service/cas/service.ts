import type { Service } from '../../base/rpc.js'
import { batchReadBlobs } from './batch-read-blobs.js'
import { batchUpdateBlobs } from './batch-update-blobs.js'
import { findMissingBlobs } from './find-missing-blobs.js'
import { getTree } from './get-tree.js'
import type { CasOptions } from './options.js'

/** ContentAddressableStorage. SplitBlob and SpliceBlob are not served; the capabilities say so. */
export const casService = (options: CasOptions): Service => ({
  name: 'build.bazel.remote.execution.v2.ContentAddressableStorage',
  unary: {
    BatchUpdateBlobs: batchUpdateBlobs(options),
    BatchReadBlobs: batchReadBlobs(options),
  },
  unaryBytes: { FindMissingBlobs: findMissingBlobs(options) },
  serverStreaming: { GetTree: getTree(options) },
})
