import type { Call } from '../base/call.js'
import type { HealthStatus } from '../base/health.js'
import { StatusError } from '../base/status-error.js'
import type { NoopOptions } from '../config/config.js'
import type { Digest } from '../reapi/digest.js'
import type { DigestBatch } from '../reapi/digest-batch.js'
import type { Range, ReadPath, WritePath } from '../stream/path.js'
import { Drain } from './drain.js'
import type { StoreKind } from './kind.js'
import type { Store } from './store.js'

/** Takes every write and keeps nothing. */
class NoopStore implements Store {
  readonly keepsNothing = true

  async findMissing(digests: readonly Digest[]): Promise<Digest[]> {
    return [...digests]
  }

  async findMissingIn(batch: DigestBatch): Promise<DigestBatch> {
    return batch
  }

  async reader(digest: Digest, _range: Range, _call: Call): Promise<ReadPath> {
    throw nothingKept(digest)
  }

  async writer(): Promise<WritePath> {
    return [new Drain()]
  }

  async readBytes(digest: Digest): Promise<Buffer> {
    throw nothingKept(digest)
  }

  async writeBytes(): Promise<void> {}

  async remove(): Promise<void> {}

  async health(): Promise<HealthStatus> {
    return { state: 'Ok', structName: NoopStore.name, message: 'keeps nothing' }
  }
}

const nothingKept = ({ key }: Digest): StatusError =>
  new StatusError('NOT_FOUND', `blob ${key} is not here: this store keeps nothing`)

export const noop: StoreKind<NoopOptions> = { build: () => new NoopStore() }
