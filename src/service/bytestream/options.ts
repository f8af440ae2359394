import type { CasInstance, Instances } from '../instance.js'
import type { Uploads } from './uploads.js'

export interface ByteStreamInstance extends CasInstance {
  /** Most bytes of a blob in one message of a read. */
  readonly maxReadChunkBytes: number
  /** How long a broken upload can be resumed. */
  readonly parkedForMs: number
}

export interface ByteStreamOptions {
  readonly instances: Instances<ByteStreamInstance>
  /** Owned by the caller, who closes it when no more calls come. */
  readonly uploads: Uploads
}
