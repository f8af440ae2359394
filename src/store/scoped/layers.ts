import { isStatus } from '../../base/status-error.js'
import { ForwardingStore } from '../../blobs/forwarding.js'
import { missReasonOf } from '../../blobs/result-miss.js'
import type { Store, StoreProperties } from '../../blobs/store.js'
import type { Digest } from '../../reapi/digest.js'
import type { DigestBatch } from '../../reapi/digest-batch.js'
import { type Call, callWith } from '../../rpc/call.js'
import type { Blob } from '../../stream/blob/blob.js'
import type { Range } from '../../stream/path.js'

/** Action caches that are read one after the other. Only the first one is ever changed. */
export const layered = (first: Store, ...others: readonly Store[]): Store =>
  others.length === 0 ? first : new Layers(first, others)

/** Hears of each read which of the layers had it, from 0; undefined if none had. */
export type ReadMeter = (layer: number | undefined, call: Call) => void

export const meteredLayers = (first: Store, others: readonly Store[], meter: ReadMeter): Store =>
  new Layers(first, others, meter)

class Layers extends ForwardingStore {
  readonly #others: readonly Store[]
  readonly #meter: ReadMeter | undefined

  constructor(first: Store, others: readonly Store[], meter?: ReadMeter) {
    super(first)
    this.#others = others
    this.#meter = meter
  }

  override get properties(): StoreProperties {
    const all = [this.backend, ...this.#others].map(({ properties }) => properties)
    return { ...this.backend.properties, findsByHash: all.every(({ findsByHash }) => findsByHash) }
  }

  override async findMissing(digests: DigestBatch, call: Call): Promise<DigestBatch> {
    let missing = await this.backend.findMissing(digests, call)
    for (const other of this.#others) if (missing.count > 0) missing = await other.findMissing(missing, call)
    return missing
  }

  override lacks(digest: Digest, call: Call): boolean {
    return this.backend.lacks(digest, call) && this.#others.every((other) => other.lacks(digest, call))
  }

  /**
   * If none has it, the error is the one that says most: a result that lacks an output is more than none. A layer that knows by
   * its index that it has nothing is not asked: its error would cost more than the hit of the next one.
   */
  override async get(digest: Digest, range: Range, call: Call): Promise<Blob> {
    const isSkipped = this.#others.length > 0 && this.backend.lacks(digest, call)
    let miss: unknown
    for (let layer = isSkipped ? 1 : 0; layer <= this.#others.length; layer++) {
      try {
        const blob = await (this.#others[layer - 1] ?? this.backend).get(digest, range, call)
        this.#meter?.(layer, call)
        return blob
      } catch (error) {
        if (!isStatus(error, 'NOT_FOUND')) throw error
        miss = miss !== undefined && missReasonOf(error) === undefined ? miss : error
      }
    }
    this.#meter?.(undefined, call)
    throw miss
  }

  override async sizeOf(named: Digest, call: Call): Promise<number | undefined> {
    for (const store of [this.backend, ...this.#others]) {
      const sizeBytes = await store.sizeOf(named, call)
      if (sizeBytes !== undefined) return sizeBytes
    }
    return undefined
  }
}

/** A store that is asked in the name of another instance. */
export const inInstanceOf = (store: Store, instanceName: string): Store => new InInstance(store, instanceName)

class InInstance extends ForwardingStore {
  readonly #instanceName: string

  constructor(backend: Store, instanceName: string) {
    super(backend)
    this.#instanceName = instanceName
  }

  override findMissing(digests: DigestBatch, call: Call): Promise<DigestBatch> {
    return super.findMissing(digests, this.#in(call))
  }

  override get(digest: Digest, range: Range, call: Call): Promise<Blob> {
    return super.get(digest, range, this.#in(call))
  }

  override lacks(digest: Digest, call: Call): boolean {
    return super.lacks(digest, this.#in(call))
  }

  override sizeOf(named: Digest, call: Call): Promise<number | undefined> {
    return super.sizeOf(named, this.#in(call))
  }

  override evictedMs(digest: Digest, call: Call): Promise<number | undefined> {
    return super.evictedMs(digest, this.#in(call))
  }

  #in(call: Call): Call {
    return callWith(call, { instanceName: this.#instanceName })
  }
}
