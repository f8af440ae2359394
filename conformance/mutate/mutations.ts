import type { Mutation } from './mutation.js'
import { byteStreamWriteMutations } from './mutations/bytestream-write.js'
import { findMissingBlobsMutations } from './mutations/find-missing-blobs.js'

/** Every way in which the proxy can break a server. */
export const mutations: readonly Mutation[] = [...findMissingBlobsMutations, ...byteStreamWriteMutations]
