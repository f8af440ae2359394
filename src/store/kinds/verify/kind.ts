import { ForwardingStore } from '../../../blobs/forwarding.js'
import type { FarTrees, Store, StoreProperties } from '../../../blobs/store.js'
import type { VerifyOptions } from '../../../config/config.js'
import type { Digest } from '../../../reapi/digest.js'
import type { Call } from '../../../rpc/call.js'
import type { Blob } from '../../../stream/blob/blob.js'
import { isWhole, type Range } from '../../../stream/path.js'
import type { StageContext, StoreKind } from '../../contract/kind.js'

/**
 * Verifies blobs against their digest when they are written and when they are read. A damaged blob is removed from the
 * backend before the reader gets the error, so that the next read is a miss. Partial reads cannot be verified and pass
 * unchanged.
 *
 * Use it for a CAS whose backend may be damaged or is shared with other programs. Never use it for an action cache,
 * whose digests do not describe the bytes. Records of the server beside the blobs pass unchanged: their keys
 * describe nothing.
 */
class VerifyStore extends ForwardingStore {
  readonly #checks: { readonly checksSize: boolean; readonly checksHash: boolean }

  constructor(backend: Store, { verify_size: checksSize, verify_hash: checksHash }: VerifyOptions) {
    super(backend)
    this.#checks = { checksSize, checksHash }
  }

  override get properties(): StoreProperties {
    const { properties } = this.backend
    return this.#checks.checksHash ? { ...properties, detectsDamage: true } : properties
  }

  /** Its Directories come with bytes that their digests describe: there is nothing left to verify. */
  get trees(): FarTrees | undefined {
    return this.backend.trees
  }

  protected override incoming(blob: Blob, digest: Digest): Blob {
    if (digest.isOwn) return blob
    const { checksSize, checksHash } = this.#checks
    return blob.verify(digest, { checksSize, checksHash, fault: 'client' })
  }

  protected override outgoing(blob: Blob, digest: Digest, range: Range, call: Call): Blob {
    if (digest.isOwn || !isWhole(range, digest.sizeBytes)) return blob
    const { checksSize, checksHash } = this.#checks
    const repair = (): Promise<void> => this.remove(digest, 'wrong', call)
    return blob.verify(digest, { checksSize, checksHash, fault: 'backend', repair })
  }
}

const stage = async (options: VerifyOptions, { child }: StageContext): Promise<Store> =>
  new VerifyStore(await child(options.backend, 'backend'), options)

export const verify: StoreKind<VerifyOptions> = {
  threads: ({ backend }, below) => below.stage({ backend: below.child(backend, 'backend') }),
  promise: ({ backend }, below) => below.child(backend),
  build: stage,
  stage,
}
