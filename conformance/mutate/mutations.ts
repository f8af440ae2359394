import type { Mutation } from './mutation.js'
import { beyondMutations } from './mutations/beyond.js'
import { queryWriteStatusMutations } from './mutations/bytestream/query-write-status.js'
import { byteStreamReadMutations } from './mutations/bytestream/read.js'
import { byteStreamWriteMutations } from './mutations/bytestream/write.js'
import { actionCacheMutations } from './mutations/cas/action-cache.js'
import { batchReadBlobsMutations } from './mutations/cas/batch-read-blobs.js'
import { batchUpdateBlobsMutations } from './mutations/cas/batch-update-blobs.js'
import { findMissingBlobsMutations } from './mutations/cas/find-missing-blobs.js'
import { getTreeMutations } from './mutations/cas/get-tree.js'
import { retentionMutations } from './mutations/cas/retention.js'
import { splitSpliceMutations } from './mutations/cas/split-splice.js'
import { clientMutations } from './mutations/clients.js'
import { blobEdgeMutations } from './mutations/edges/blobs.js'
import { commandEdgeMutations } from './mutations/edges/commands.js'
import { directoryEdgeMutations } from './mutations/edges/directories.js'
import { resultEdgeMutations } from './mutations/edges/results.js'
import { commandMutations } from './mutations/execution/command.js'
import { executionFailureMutations } from './mutations/execution/failures.js'
import { outputTreeMutations } from './mutations/execution/output-tree.js'
import { executionResultsMutations } from './mutations/execution/results.js'
import { executionStreamMutations } from './mutations/execution/stream.js'
import { optionalServicesMutations } from './mutations/other-services/optional-services.js'
import { blobPlaceMutations } from './mutations/places/blobs.js'
import { executionPlaceMutations } from './mutations/places/executions.js'
import { resultPlaceMutations } from './mutations/places/results.js'
import { capabilitiesMutations } from './mutations/transport/capabilities.js'
import { digestAndInstanceMutations } from './mutations/transport/digest-and-instance.js'
import { transportMutations } from './mutations/transport/transport.js'
import { unimplementedMutations } from './mutations/transport/unimplemented.js'
import { refusals, silentLosses } from './silent-loss.js'

/** Every mutation of the proxy, by the area it breaks. */
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
  'Split and Splice': splitSpliceMutations,
  'Action cache': actionCacheMutations,
  'What lookups and hits keep': retentionMutations,
  'Execution: operations and caching': executionStreamMutations,
  'Execution: failures': executionFailureMutations,
  'Execution: results': executionResultsMutations,
  'Execution: Trees of output directories': outputTreeMutations,
  'Execution: what a Command means': commandMutations,
  'Beyond small examples': beyondMutations,
  'Edges: blobs and batches': blobEdgeMutations,
  'Edges: names and entries of Directories': directoryEdgeMutations,
  'Edges: results and streams': resultEdgeMutations,
  'Edges: arguments and variables': commandEdgeMutations,
  'Written before the rows were read: results of lookups': resultPlaceMutations,
  'Written before the rows were read: blobs and Directories': blobPlaceMutations,
  'Written before the rows were read: actions and their outputs': executionPlaceMutations,
  'Silent loss: fails rows of any level': silentLosses,
  'Refusals: warn rows of any level': refusals,
  'The newest clients': clientMutations,
  'Methods that capabilities claim': unimplementedMutations,
  'Services the server behind the proxy lacks': optionalServicesMutations,
}

export const mutations: readonly Mutation[] = Object.values(mutationsBySubject).flat()
