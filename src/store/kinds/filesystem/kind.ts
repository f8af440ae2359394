import type { FilesystemOptions } from '../../../config/config.js'
import type { StoreKind } from '../../contract/kind.js'
import { promiseOfIndex } from '../../index/kept-promises.js'
import { openFileStore } from './open-file-store.js'
import { segmentBytesFor } from './records/room.js'

export const filesystem: StoreKind<FilesystemOptions> = {
  threads: (_, { path }) => ({ isOneEach: true, node: { path, form: 'shared' } }),
  promise: (options) => promiseOfIndex(options, 'also across a restart'),
  build: (options, context) => openFileStore(options, context, segmentBytesFor(options.eviction_policy.max_bytes)),
}
