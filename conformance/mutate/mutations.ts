import type { Mutation } from './mutation.js'
import { actionCacheMutations } from './mutations/action-cache.js'
import { batchReadBlobsMutations } from './mutations/batch-read-blobs.js'
import { batchUpdateBlobsMutations } from './mutations/batch-update-blobs.js'
import { beyondMutations } from './mutations/beyond.js'
import { byteStreamReadMutations } from './mutations/bytestream-read.js'
import { byteStreamWriteMutations } from './mutations/bytestream-write.js'
import { capabilitiesMutations } from './mutations/capabilities.js'
import { commandMutations } from './mutations/command.js'
import { digestAndInstanceMutations } from './mutations/digest-and-instance.js'
import { executionFailureMutations } from './mutations/execution-failures.js'
import { executionResultsMutations } from './mutations/execution-results.js'
import { executionStreamMutations } from './mutations/execution-stream.js'
import { findMissingBlobsMutations } from './mutations/find-missing-blobs.js'
import { getTreeMutations } from './mutations/get-tree.js'
import { optionalServicesMutations } from './mutations/optional-services.js'
import { outputTreeMutations } from './mutations/output-tree.js'
import { queryWriteStatusMutations } from './mutations/query-write-status.js'
import { transportMutations } from './mutations/transport.js'
import { unimplementedMutations } from './mutations/unimplemented.js'

/** Every way in which the proxy can break a server, by what is broken. */
export const mutationsBySubject: Readonly<Record<string, readonly Mutation[]>> = {
  'Transport, health, reflection': transportMutations,
  'Digests and instance names': digestAndInstanceMutations,
  Capabilities: capabilitiesMutations,
  FindMissingBlobs: findMissingBlobsMutations,
  BatchUpdateBlobs: batchUpdateBlobsMutations,
  BatchReadBlobs: batchReadBlobsMutations,
  'ByteStream.Write': byteStreamWriteMutations,
  QueryWriteStatus: queryWriteStatusMutations,
  'ByteStream.Read': byteStreamReadMutations,
  GetTree: getTreeMutations,
  'Action cache': actionCacheMutations,
  'Execution: operations and caching': executionStreamMutations,
  'Execution: failures': executionFailureMutations,
  'Execution: results': executionResultsMutations,
  'Execution: Trees of output directories': outputTreeMutations,
  'Execution: what a Command means': commandMutations,
  'Beyond small examples': beyondMutations,
  'Methods that capabilities claim': unimplementedMutations,
  'Services the server behind the proxy lacks': optionalServicesMutations,
}

export const mutations: readonly Mutation[] = Object.values(mutationsBySubject).flat()
