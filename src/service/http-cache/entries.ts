import { Code, isStatus, StatusError } from '../../base/status-error.js'
import type { KeptSizes } from '../../blobs/meter.js'
import { putBytes, type Store } from '../../blobs/store.js'
import { putUnnamedBlob } from '../../content/put-unnamed.js'
import { HttpError } from '../../http/answer.js'
import { Digest } from '../../reapi/digest.js'
import { digestFunctions } from '../../reapi/digest-function.js'
import { type Call, callWith } from '../../rpc/call.js'
import type { Visitor } from '../../rpc/gate.js'
import type { Scope } from '../../rpc/scope.js'
import { Blob } from '../../stream/blob/blob.js'
import { WHOLE } from '../../stream/path.js'
import { lookUpEntry, type Miss } from '../action-cache/lookup.js'
import { decodeEntry, type EntryContent, encodeEntry, keyOfEntry } from './entry-record.js'
import type { HashSizes } from './hash-sizes.js'
import type { KeptFields } from './kept-fields.js'
import { decodeOlderEntry, keyOfOlderEntry } from './older-entry.js'

/** Up to this length the body is part of the entry: one read for a hit. */
const INLINE_BYTES = 4096
const MAX_ENTRY_BYTES = 1024 * 1024
/** Bodies up to this length are read before the answer begins, so that a damaged one is a miss. */
const READ_FIRST_BYTES = 256 * 1024

/** The stores of an instance that has HTTP caches. */
export interface CacheStores {
  readonly instanceName: string
  /** Contains only results whose outputs are all in `cas`: those that everybody reads, or those of one scope. */
  readonly ac: Store
  /** What one scope keeps apart. */
  of(scope: Scope): CacheStores
  /** Read after these, the nearest first. */
  readonly parents: readonly CacheStores[]
  /** A CAS view (`asCas`). */
  readonly cas: Store
  /** Whether uploads by clients are refused. */
  readonly isReadOnly: boolean
  readonly maxBlobBytes: number | undefined
  /** What the stores of the instance keep, which may serve others too; undefined if they keep nothing themselves. */
  readonly kept: () => KeptSizes | undefined
  /** Whether blobs may travel in zstd. */
  readonly hasZstd: boolean
  /** For clients that know blobs and results by their hashes only. */
  readonly sizes: HashSizes
  /** Whether entries of older versions are read, which every client that may write results could have written. */
  readonly readsOlder: boolean
}

export interface Entry {
  readonly sizeBytes: number
  /** Of the body. */
  digest(): Digest
  /** Those that were kept with it. */
  readonly fields: KeptFields
  readonly body: Blob
}

export interface NewEntry {
  readonly body: Blob
  readonly fields?: KeptFields | undefined
  /** The SHA-256 that the body must have. */
  readonly hash?: string | undefined
  readonly maxBytes: number
  readonly visitor: Visitor | undefined
}

/** Why there is no entry. */
export type NoEntry = Pick<Miss, 'kind'>

/**
 * The entries of HTTP caches in one instance: records in its action cache, so that eviction, completeness, replication and
 * isolation are those of results. Their keys are of a kind that no digest of a client has. `key` names the cache and the
 * client's key.
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
    const { cas } = this.#stores
    const call = this.#callOf(wanting)
    const found = await this.#find(key, call)
    if ('kind' in found) return found
    const { inline, fields, digest } = found
    if (digest === undefined) {
      const digestOf = (): Digest => Digest.of(inline, digestFunctions.SHA256)
      return { sizeBytes: inline.length, digest: digestOf, fields, body: Blob.ofBytes(inline) }
    }
    try {
      const blob = await cas.get(digest, WHOLE, call)
      const { sizeBytes } = digest
      if (sizeBytes > READ_FIRST_BYTES) return { sizeBytes, digest: () => digest, fields, body: blob }
      const bytes = await blob.bytes(READ_FIRST_BYTES, call)
      if (bytes.length !== sizeBytes) return { kind: 'damaged' }
      return { sizeBytes, digest: () => digest, fields, body: Blob.ofBytes(bytes) }
    } catch (error) {
      if (isStatus(error, 'NOT_FOUND')) return { kind: 'incomplete' }
      if (!isStatus(error, 'DATA_LOSS')) throw error
      call.log.warn('the body of an HTTP cache entry is damaged', { blob: digest.key, error })
      return { kind: 'damaged' }
    }
  }

  /** Whether there is an entry with its body. */
  async has(key: readonly string[], wanting: Call): Promise<boolean> {
    return !('kind' in (await this.#find(key, this.#callOf(wanting))))
  }

  /**
   * Stores one body under all keys, and returns its length. The entry is visible when its whole body is stored. Rejects
   * with 413 for a body above `maxBytes`.
   */
  async put(keys: readonly (readonly string[])[], entry: NewEntry, wanting: Call): Promise<number> {
    const { body, fields = {}, hash, maxBytes, visitor } = entry
    const { ac, cas, maxBlobBytes = Number.POSITIVE_INFINITY } = this.#stores
    const call = this.#callOf(wanting)
    const bound = Math.min(maxBytes, maxBlobBytes, cas.properties.maxBlobBytes)
    const { sizeBytes } = body
    // Before the first byte: a client that waits for `100 Continue` need not send the rest.
    if ((sizeBytes ?? 0) > bound) throw tooLarge(bound)
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
    for (const key of keys) {
      const named = keyOfEntry(this.instanceName, key)
      await putBytes(ac, named, encodeEntry(named, stored, fields, visitor?.nameInResults), call)
    }
    return receivedBytes
  }

  async remove(key: readonly string[], wanting: Call): Promise<void> {
    const { ac, readsOlder } = this.#stores
    const call = this.#callOf(wanting)
    await ac.remove(keyOfEntry(this.instanceName, key), 'unwanted', call)
    if (readsOlder) await ac.remove(keyOfOlderEntry(this.instanceName, key), 'unwanted', call)
  }

  async #find(key: readonly string[], call: Call): Promise<EntryContent | NoEntry> {
    const { ac, cas, readsOlder } = this.#stores
    const context = { ac, cas, call, maxBytes: MAX_ENTRY_BYTES }
    const named = keyOfEntry(this.instanceName, key)
    const found = await lookUpEntry(named, context)
    if (found.kind === 'hit') return decoded(() => decodeEntry(named, found.found), named, call)
    if (found.kind === 'forbidden') throw found.error
    if (found.kind !== 'absent' || !readsOlder) return found
    const older = await lookUpEntry(keyOfOlderEntry(this.instanceName, key), context)
    return older.kind === 'hit' ? decoded(() => decodeOlderEntry(older.found), named, call) : found
  }

  #callOf(call: Call): Call {
    const { instanceName } = this.#stores
    call.isFor?.(instanceName)
    return callWith(call, { instanceName })
  }
}

/** What a store has and nobody can decode is a miss, and no mistake of the reader. */
const decoded = (decode: () => EntryContent, key: Digest, call: Call): EntryContent | NoEntry => {
  try {
    return decode()
  } catch (error) {
    if (!isStatus(error, 'INVALID_ARGUMENT')) throw error
    call.log.warn('an HTTP cache entry is damaged', { entry: key.key, error })
    return { kind: 'damaged' }
  }
}

const tooLarge = (maxBytes: number): HttpError =>
  new HttpError(
    413,
    `the body is longer than ${maxBytes} bytes, the most that this cache takes (max_size), or its store`,
  )

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
