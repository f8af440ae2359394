import { Code, isStatus, StatusError } from '../../base/status-error.js'
import { putUnnamedBlob } from '../../content/put-unnamed.js'
import { HttpError } from '../../http/answer.js'
import { Digest } from '../../reapi/digest.js'
import { digestFunctions } from '../../reapi/digest-function.js'
import { type Call, callWith } from '../../rpc/call.js'
import type { Visitor } from '../../rpc/gate.js'
import { putBytes, type Store } from '../../store/contract/store.js'
import { Blob } from '../../stream/blob/blob.js'
import { WHOLE } from '../../stream/path.js'
import { lookUpEntry, type Miss } from '../action-cache/lookup.js'
import { decodeEntry, encodeEntry } from './entry-result.js'
import type { HashSizes } from './hash-sizes.js'

/** Up to this length the body is part of the entry: one read for a hit. */
const INLINE_BYTES = 4096
const MAX_ENTRY_BYTES = 1024 * 1024
/** Bodies up to this length are read before the answer begins, so that a damaged one is a miss. */
const READ_FIRST_BYTES = 256 * 1024

/** The stores of an instance that has HTTP caches. */
export interface CacheStores {
  readonly instanceName: string
  /** Contains only results whose outputs are all in `cas`. */
  readonly ac: Store
  /** A CAS view (`asCas`). */
  readonly cas: Store
  /** Whether uploads by clients are refused. */
  readonly isReadOnly: boolean
  readonly maxBlobBytes: number | undefined
  /** Whether blobs may travel in zstd. */
  readonly hasZstd: boolean
  /** For clients that know blobs and results by their hashes only. */
  readonly sizes: HashSizes
}

export interface Entry {
  readonly sizeBytes: number
  /** Of the body. */
  digest(): Digest
  /** Those that were kept with it. */
  readonly headers: Readonly<Record<string, string>>
  readonly body: Blob
}

export interface NewEntry {
  readonly body: Blob
  readonly headers?: Readonly<Record<string, string>> | undefined
  /** The SHA-256 that the body must have. */
  readonly hash?: string | undefined
  readonly maxBytes: number
  readonly visitor: Visitor | undefined
}

/** Why there is no entry. */
export type NoEntry = Pick<Miss, 'kind'>

/**
 * The entries of HTTP caches in one instance: results of the action cache with one output, so that eviction, completeness,
 * replication and isolation are those of the action cache. `key` names the cache and the client's key.
 */
export class Entries {
  readonly #stores: CacheStores

  constructor(stores: CacheStores) {
    this.#stores = stores
  }

  get isReadOnly(): boolean {
    return this.#stores.isReadOnly
  }

  get instanceName(): string {
    return this.#stores.instanceName
  }

  async get(key: readonly string[], wanting: Call): Promise<Entry | NoEntry> {
    const { ac, cas } = this.#stores
    const call = this.#callOf(wanting)
    const found = await lookUpEntry(this.#digestOf(key), { ac, cas, call, maxBytes: MAX_ENTRY_BYTES })
    if (found.kind === 'forbidden') throw found.error
    if (found.kind !== 'hit') return found
    const { inline, headers, digest } = decodeEntry(found.found)
    if (digest === undefined) {
      const digestOf = (): Digest => Digest.of(inline, digestFunctions.SHA256)
      return { sizeBytes: inline.length, digest: digestOf, headers, body: Blob.ofBytes(inline) }
    }
    try {
      const blob = await cas.get(digest, WHOLE, call)
      const { sizeBytes } = digest
      if (sizeBytes > READ_FIRST_BYTES) return { sizeBytes, digest: () => digest, headers, body: blob }
      const bytes = await blob.bytes(READ_FIRST_BYTES, call)
      if (bytes.length !== sizeBytes) return { kind: 'damaged' }
      return { sizeBytes, digest: () => digest, headers, body: Blob.ofBytes(bytes) }
    } catch (error) {
      if (isStatus(error, 'NOT_FOUND')) return { kind: 'incomplete' }
      if (!isStatus(error, 'DATA_LOSS')) throw error
      call.log.warn('the body of an HTTP cache entry is damaged', { blob: digest.key, error })
      return { kind: 'damaged' }
    }
  }

  /** Whether there is an entry with its body. */
  async has(key: readonly string[], wanting: Call): Promise<boolean> {
    const { ac, cas } = this.#stores
    const call = this.#callOf(wanting)
    return (await lookUpEntry(this.#digestOf(key), { ac, cas, call, maxBytes: MAX_ENTRY_BYTES })).kind === 'hit'
  }

  /**
   * Stores one body under all keys, and returns its length. The entry is visible when its whole body is stored. Rejects
   * with 413 for a body above `maxBytes`.
   */
  async put(keys: readonly (readonly string[])[], entry: NewEntry, wanting: Call): Promise<number> {
    const { body, headers = {}, hash, maxBytes, visitor } = entry
    const { ac, cas, maxBlobBytes = Number.POSITIVE_INFINITY } = this.#stores
    const call = this.#callOf(wanting)
    const bound = Math.min(maxBytes, maxBlobBytes)
    const { sizeBytes = 0 } = body
    if (sizeBytes > bound) throw tooLarge(bound)
    let receivedBytes = 0
    const options = {
      blob: body,
      inlineBytes: INLINE_BYTES,
      digestFunction: digestFunctions.SHA256,
      maxBytes: Number.POSITIVE_INFINITY,
      onBytes: ({ length }: Uint8Array) => {
        receivedBytes += length
        if (receivedBytes > bound) throw tooLarge(bound)
      },
      check: hash === undefined ? undefined : (found: Digest) => checkHash(found, hash),
    }
    const stored = await putUnnamedBlob(cas, options, call)
    const bytes = encodeEntry(stored, headers, visitor?.nameInResults)
    for (const key of keys) await putBytes(ac, this.#digestOf(key), bytes, call)
    return receivedBytes
  }

  remove(key: readonly string[], wanting: Call): Promise<void> {
    return this.#stores.ac.remove(this.#digestOf(key), 'unwanted', this.#callOf(wanting))
  }

  /**
   * No part contains NUL. No Action has this digest. The instance is part of it, because instances that are not isolated
   * may share a store, and what one of them writes is not for the other.
   */
  #digestOf(key: readonly string[]): Digest {
    const text = ['http-entry/1', this.instanceName, ...key].join('\0')
    return Digest.of(Buffer.from(text), digestFunctions.SHA256).asKey()
  }

  #callOf(call: Call): Call {
    const { instanceName } = this.#stores
    call.isFor?.(instanceName)
    return callWith(call, { instanceName })
  }
}

const tooLarge = (maxBytes: number): HttpError =>
  new HttpError(413, `the body is longer than ${maxBytes} bytes, the most that this cache takes (max_size)`)

const checkHash = (found: Digest, hash: string): void => {
  if (hash === found.hash) return
  throw new StatusError(
    'INVALID_ARGUMENT',
    `the body has the SHA-256 ${found.hash}, expected ${hash}, as its name says`,
  )
}

/** Errors of the store, as opposed to refusals and mistakes of the client. */
export const isFault = (error: StatusError): boolean => FAULTS.has(error.code)

const FAULTS = new Set<number>([
  Code.UNKNOWN,
  Code.INTERNAL,
  Code.DATA_LOSS,
  Code.UNAVAILABLE,
  Code.DEADLINE_EXCEEDED,
  Code.FAILED_PRECONDITION,
  Code.ABORTED,
])
