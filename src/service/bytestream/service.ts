import type { Service } from '../../rpc/rpc.js'
import type { ByteStreamOptions } from './options.js'
import { queryWriteStatus } from './query-write-status.js'
import { read } from './read.js'
import { write } from './write.js'

/** google.bytestream.ByteStream over the CAS of each instance. */
export const byteStreamService = (options: ByteStreamOptions): Service => ({
  name: 'google.bytestream.ByteStream',
  instances: options.instances,
  unary: { QueryWriteStatus: queryWriteStatus(options) },
  serverStreaming: { Read: read(options) },
  clientStreaming: { Write: write(options) },
})
