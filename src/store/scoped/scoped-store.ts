import { isStatus, StatusError } from '../../base/status-error.js'
import { inWordsOfClients } from '../../blobs/error-words.js'
import { ForwardingStore } from '../../blobs/forwarding.js'
import {
  type BlobEntry,
  type BlobFiles,
  getBytes,
  type Outcomes,
  outcomeOf,
  putBytes,
  type Removal,
  type Store,
  type StoreProperties,
} from '../../blobs/store.js'
import { decodeRecord, encodeRecord, referencedByRecord } from '../../content/own-record.js'
import { codec } from '../../proto/codec.js'
import { type ReferencedBlobs, referencedBlobs } from '../../reapi/action-result.js'
import { Digest } from '../../reapi/digest.js'
import type { DigestBatch } from '../../reapi/digest-batch.js'
import type { Call } from '../../rpc/call.js'
import type { Scope } from '../../rpc/scope.js'
import { Blob } from '../../stream/blob/blob.js'
import { type Range, WHOLE } from '../../stream/path.js'
import { boundedMap, LANES } from '../../work/bounded-map.js'
import type { KnownScope } from './known-scope.js'

const resultCodec = codec('build.bazel.remote.execution.v2.ActionResult')
const detailsCodec = codec('remexec.record.v1.ScopedDetails')

const MAX_RECORD_BYTES = 64 * 1024 * 1024

/** The scope in the instance that a call is for. */
export type ScopeOf = (call: Call) => KnownScope

/**
 * What one scope keeps in an action cache. Each result or record lies in a record of its own under a key of the kind SCOPED,
 * which no digest of a client is, whatever it is a digest of. The record refers to the same content, so that completeness,
 * eviction and replication are those of results.
 */
export class ScopedStore extends ForwardingStore {
  readonly #scope: Scope
  readonly #of: ScopeOf
  /** The texts of all keys of this generation begin alike. */
  #generation = ''
  #keysBegin = ''

  constructor(backend: Store, scope: Scope, of: ScopeOf) {
    super(backend)
    this.#scope = scope
    this.#of = of
  }

  override get properties(): StoreProperties {
    return { ...this.backend.properties, findsByHash: false }
  }

  override get files(): BlobFiles | undefined {
    return undefined
  }

  override async findMissing(digests: DigestBatch, call: Call): Promise<DigestBatch> {
    const indexes = Array.from({ length: digests.count }, (_, index) => index)
    const found = await boundedMap(indexes, LANES, (index) => this.#has(digests.at(index), call))
    return digests.select(indexes.filter((index) => found[index] !== true))
  }

  override lacks(digest: Digest, call: Call): boolean {
    const generation = this.#of(call).generation()
    if (typeof generation === 'object') return false
    return generation === undefined || this.backend.lacks(this.#keyIn(generation, digest), call)
  }

  override async get(digest: Digest, range: Range, call: Call): Promise<Blob> {
    const known = this.#of(call)
    const found = known.generation()
    const generation = typeof found === 'object' ? await found : found
    if (generation === undefined) throw absent(digest)
    const key = this.#keyIn(generation, digest)
    const bytes = await getBytes(this.backend, key, MAX_RECORD_BYTES, call).catch((error: unknown) => {
      throw inWordsOfClients(error, key, digest)
    })
    known.used(key, weightOf(bytes.length, referencedByRecord(key, bytes)))
    return Blob.ofPart(decodeRecord(key, bytes).content, range, digest.key)
  }

  override async put(digest: Digest, blob: Blob, call: Call): Promise<void> {
    const bytes = await blob.bytes(MAX_RECORD_BYTES, call)
    const known = this.#of(call)
    const key = this.#keyIn(await known.begun(), digest)
    const referenced = referencedIn(digest, bytes)
    const { trees, rootDirectories } = referenced
    const details = detailsCodec.encode({ scope: this.#scope.name })
    const blobs = referenced.blobs.digests()
    const record = encodeRecord(key, { blobs, trees, rootDirectories, content: bytes, details })
    await putBytes(this.backend, key, record, call)
    await known.wrote(key, weightOf(record.length, referenced))
  }

  override putAll(entries: readonly BlobEntry[], call: Call): Promise<Outcomes> {
    return boundedMap(entries, LANES, ({ digest, blob }) => outcomeOf(this.put(digest, blob, call)))
  }

  override async remove(digest: Digest, why: Removal, call: Call): Promise<void> {
    const known = this.#of(call)
    const generation = await known.generation()
    if (generation === undefined) return
    const key = this.#keyIn(generation, digest)
    await this.backend.remove(key, why, call)
    known.removed(key)
  }

  override sizeOf(): Promise<number | undefined> {
    return Promise.resolve(undefined)
  }

  override async evictedMs(digest: Digest, call: Call): Promise<number | undefined> {
    const generation = await this.#of(call).generation()
    return generation === undefined ? undefined : this.backend.evictedMs(this.#keyIn(generation, digest), call)
  }

  async #has(digest: Digest, call: Call): Promise<boolean> {
    try {
      const blob = await this.get(digest, WHOLE, call)
      blob.discard()
      return true
    } catch (error) {
      if (isStatus(error, 'NOT_FOUND')) return false
      throw error
    }
  }

  #keyIn(generation: string, digest: Digest): Digest {
    if (generation !== this.#generation) {
      this.#generation = generation
      this.#keysBegin = JSON.stringify([this.#scope.name, generation, '']).slice(0, -2)
    }
    // The key of a digest has no character that JSON changes.
    return Digest.ofOwn('SCOPED', `${this.#keysBegin}${digest.key}"]`)
  }
}

const absent = ({ key }: Digest): StatusError => new StatusError('NOT_FOUND', `blob ${key} is not in the scope`)

/** Throws INVALID_ARGUMENT for what is neither a result nor a record of the kind of the key. */
const referencedIn = (digest: Digest, bytes: Buffer): ReferencedBlobs =>
  digest.isOwn ? referencedByRecord(digest, bytes) : referencedBlobs(resultCodec.decode(bytes), digest.function)

const weightOf = (recordBytes: number, { blobs, trees, rootDirectories }: ReferencedBlobs): number =>
  [...blobs.digests(), ...trees, ...rootDirectories].reduce((sum, { sizeBytes }) => sum + sizeBytes, recordBytes)
