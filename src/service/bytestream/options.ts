import type { SparingLog } from '../../log/sparing-log.js'
import type { CasInstance, Instances } from '../instance.js'
import type { LogStreams } from './log-stream.js'
import type { Uploads } from './uploads.js'

export interface ByteStreamInstance extends CasInstance {
  /** Maximum number of blob bytes in one ReadResponse. */
  readonly maxReadChunkBytes: number
  /** How long an interrupted upload can be resumed, in ms. */
  readonly parkedForMs: number
}

export interface ByteStreamOptions {
  readonly instances: Instances<ByteStreamInstance>
  /** Owned by the caller, which closes it after the last call. */
  readonly uploads: Uploads
  /** Undefined where nobody reads what actions print. */
  readonly logStreams?: LogStreams | undefined
  /** Mistakes of clients that their users do not see. */
  readonly faults: SparingLog
}
