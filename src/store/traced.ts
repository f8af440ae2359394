import type { Call } from '../base/call.js'
import { inSpan } from '../base/in-span.js'
import type { Digest } from '../reapi/digest.js'
import type { DigestBatch } from '../reapi/digest-batch.js'
import type { Blob } from '../stream/blob/blob.js'
import type { Range } from '../stream/path.js'
import { ForwardingStore } from './forwarding.js'
import type { BlobEntry, Outcomes, Store } from './store.js'

/**
 * A store as the traces of calls show it, a span for each question it is asked; what it asks its own backends is below that.
 * Of a read the span ends with the blob in hand: how fast it is read is the reader's. Only there where traces are sent.
 */
export class TracedStore extends ForwardingStore {
  readonly #place: string

  /** `place` as in the configuration, `CAS/fast`. */
  constructor(store: Store, place: string) {
    super(store)
    this.#place = place
  }

  override findMissing(digests: DigestBatch, call: Call): Promise<DigestBatch> {
    const asked = { 'remexec.blobs': digests.count }
    return this.#span('find_missing', call, (inner) => this.backend.findMissing(digests, inner), asked)
  }

  override get(digest: Digest, range: Range, call: Call): Promise<Blob> {
    return this.#span('read', call, (inner) => this.backend.get(digest, range, inner), about(digest))
  }

  override put(digest: Digest, blob: Blob, call: Call): Promise<void> {
    return this.#span('write', call, (inner) => this.backend.put(digest, blob, inner), about(digest))
  }

  override putAll(entries: readonly BlobEntry[], call: Call): Promise<Outcomes> {
    const given = { 'remexec.blobs': entries.length }
    return this.#span('write', call, (inner) => this.backend.putAll(entries, inner), given)
  }

  override remove(digest: Digest, call: Call): Promise<void> {
    return this.#span('delete', call, (inner) => this.backend.remove(digest, inner), about(digest))
  }

  #span<T>(
    operation: string,
    call: Call,
    work: (call: Call) => Promise<T>,
    about: Readonly<Record<string, string | number>>,
  ): Promise<T> {
    const attributes = { 'remexec.store': this.#place, ...about }
    return inSpan(call, `${operation} ${this.#place}`, work, attributes)
  }
}

const about = ({ key }: Digest) => ({ 'remexec.digest': key })
