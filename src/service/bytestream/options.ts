import type { CasInstance, Instances } from '../instance.js'
import type { Uploads } from './uploads.js'

export interface ByteStreamOptions {
  readonly instances: Instances<CasInstance>
  /** Owned by the caller, who closes it when no more calls come. */
  readonly uploads: Uploads
}
