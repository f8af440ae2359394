import type { FilesystemOptions } from '../../config/config.js'
import { openFileStore } from '../filesystem/open-file-store.js'
import { segmentBytesFor } from '../filesystem/records/room.js'
import type { StoreKind } from '../kind.js'

export const filesystem: StoreKind<FilesystemOptions> = {
  build: (options, context) => openFileStore(options, context, segmentBytesFor(options.eviction_policy.max_bytes)),
}
