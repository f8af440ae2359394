import type { Call } from '../base/call.js'
import { Code, StatusError } from '../base/status-error.js'
import type { Digest } from '../reapi/digest.js'
import type { DigestBatch } from '../reapi/digest-batch.js'
import type { Blob } from '../stream/blob/blob.js'
import type { Range } from '../stream/path.js'
import { ForwardingStore } from './forwarding.js'
import type { BlobEntry, Outcomes, Store } from './store.js'

/**
 * A store at its place in the configuration. The builder wraps every store of every kind in one, so that what goes for all
 * of them is here and in no kind: that a failure which is the store's own says which of them failed.
 */
export class StoreNode extends ForwardingStore {
  /** The way of a blob from here down: `verify > compression > filesystem`. */
  readonly path: string
  readonly structName: string
  readonly #place: string

  /** `place` is where in the configuration it stands, `CAS/fast`; `below` are its stores by their keys. */
  constructor(store: Store, kind: string, place: string, below: ReadonlyMap<string, string>) {
    super(store)
    this.structName = store.constructor.name
    this.path = pathOf(kind, below)
    this.#place = place
  }

  override findMissing(digests: DigestBatch, call: Call): Promise<DigestBatch> {
    return this.backend.findMissing(digests, call).catch(this.#fail)
  }

  override get(digest: Digest, range: Range, call: Call): Promise<Blob> {
    return this.backend.get(digest, range, call).catch(this.#fail)
  }

  override put(digest: Digest, blob: Blob, call: Call): Promise<void> {
    return this.backend.put(digest, blob, call).catch(this.#fail)
  }

  /** What became of each is told in the answer. */
  override putAll(entries: readonly BlobEntry[], call: Call): Promise<Outcomes> {
    return this.backend.putAll(entries, call).catch(this.#fail)
  }

  override remove(digest: Digest, call: Call): Promise<void> {
    return this.backend.remove(digest, call).catch(this.#fail)
  }

  /** Told by the store it happened in, once. */
  readonly #fail = (thrown: unknown): never => {
    const error = StatusError.from(thrown)
    if (error.code < Code.INTERNAL || placed.has(error)) throw error
    const told = error.withPrefix(`store ${this.#place}`)
    placed.add(told)
    throw told
  }
}

const placed = new WeakSet<StatusError>()

const pathOf = (kind: string, below: ReadonlyMap<string, string>): string => {
  const [only] = below.values()
  if (only === undefined) return kind
  if (below.size === 1) return `${kind} > ${only}`
  return `${kind}(${[...below].map(([key, path]) => `${key}: ${path}`).join(', ')})`
}
