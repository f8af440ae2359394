import type { HealthStatus } from '../../../base/health.js'
import { StatusError } from '../../../base/status-error.js'
import { BaseStore, PLAIN } from '../../../blobs/store.js'
import type { NoopOptions } from '../../../config/config.js'
import type { Digest } from '../../../reapi/digest.js'
import type { DigestBatch } from '../../../reapi/digest-batch.js'
import type { Call } from '../../../rpc/call.js'
import type { Blob } from '../../../stream/blob/blob.js'
import type { Range } from '../../../stream/path.js'
import type { StoreKind } from '../../contract/kind.js'
import { promisesNothing } from '../../contract/promised.js'
import { oneForAll } from '../../contract/thread-use.js'

/** Accepts every blob and stores none. */
class NoopStore extends BaseStore {
  override readonly properties = { ...PLAIN, keepsNothing: true }

  async findMissing(digests: DigestBatch): Promise<DigestBatch> {
    return digests
  }

  override lacks(): boolean {
    return true
  }

  async get({ key }: Digest, _range: Range, _call: Call): Promise<Blob> {
    throw new StatusError('NOT_FOUND', `blob ${key} is not here: this store keeps nothing`)
  }

  put(_digest: Digest, blob: Blob, { signal }: Call): Promise<void> {
    return blob.drain(signal)
  }

  async remove(): Promise<void> {}

  async health(): Promise<HealthStatus> {
    return { state: 'Ok', message: 'keeps nothing' }
  }
}

export const noop: StoreKind<NoopOptions> = {
  threads: () => oneForAll('it keeps nothing'),
  promise: () => promisesNothing('it keeps nothing'),
  build: () => new NoopStore(),
}
