import { Code, isStatus, StatusError } from '../../base/status-error.js'
import { putUnnamedBlob } from '../../content/put-unnamed.js'
import { HttpError } from '../../http/answer.js'
import { codec } from '../../proto/codec.js'
import type { ActionResult } from '../../proto/generated/build.bazel.remote.execution.v2.js'
import { Digest } from '../../reapi/digest.js'
import { digestFunctions } from '../../reapi/digest-function.js'
import { setOrigin } from '../../reapi/result-origin.js'
import { type Call, callWith } from '../../rpc/call.js'
import type { Visitor } from '../../rpc/gate.js'
import { putBytes, type Store } from '../../store/contract/store.js'
import { Blob } from '../../stream/blob/blob.js'
import { WHOLE } from '../../stream/path.js'
import { lookUpEntry, type Miss } from '../action-cache/lookup.js'
import type { HashSizes } from './hash-sizes.js'

const resultCodec = codec('build.bazel.remote.execution.v2.ActionResult')
const metadataCodec = codec('build.bazel.remote.execution.v2.ExecutedActionMetadata')

/** Up to this length the body is part of the entry: one read for a hit. */
const INLINE_BYTES = 4096
const MAX_ENTRY_BYTES = 1024 * 1024
/** Bodies up to this length are read before the answer begins, so that a damaged one is a miss. */
const READ_FIRST_BYTES = 256 * 1024
const HEADERS = 'type.googleapis.com/remexec.http.Headers'

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
  readonly digest: Digest
  /** Those that were kept with it. */
  readonly headers: Readonly<Record<string, string>>
  readonly body: Blob
}

export interface NewEntry {
  readonly body: Blob
  readonly headers?: Readonly<Record<string, string>>
  /** The SHA-256 that the body must have. */
  readonly hash?: string
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
    const result = resultCodec.decode(found.found)
    const headers = headersOf(result)
    const [file] = result.outputFiles
    if (file === undefined) {
      const digest = Digest.of(result.stdoutRaw, digestFunctions.SHA256)
      return { sizeBytes: result.stdoutRaw.length, digest, headers, body: Blob.ofBytes(result.stdoutRaw) }
    }
    const digest = Digest.parse(file.digest, digestFunctions.SHA256)
    try {
      const blob = await cas.get(digest, WHOLE, call)
      const { sizeBytes } = digest
      if (sizeBytes > READ_FIRST_BYTES) return { sizeBytes, digest, headers, body: blob }
      const bytes = await blob.bytes(READ_FIRST_BYTES, call)
      if (bytes.length !== sizeBytes) return { kind: 'damaged' }
      return { sizeBytes, digest, headers, body: Blob.ofBytes(bytes) }
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

  /** Stores one body under all keys. The entry is visible when its whole body is stored. Rejects with 413 for a body above `maxBytes`. */
  async put(keys: readonly (readonly string[])[], entry: NewEntry, wanting: Call): Promise<Digest> {
    const { body, headers = {}, hash, maxBytes, visitor } = entry
    const { ac, cas, maxBlobBytes = Number.POSITIVE_INFINITY } = this.#stores
    const call = this.#callOf(wanting)
    const bound = Math.min(maxBytes, maxBlobBytes)
    const { sizeBytes = 0 } = body
    if (sizeBytes > bound) throw tooLarge(bound)
    let receivedBytes = 0
    const options = {
      ...{ blob: body, inlineBytes: INLINE_BYTES, digestFunction: digestFunctions.SHA256 },
      maxBytes: Number.POSITIVE_INFINITY,
      onBytes: ({ length }: Uint8Array) => {
        receivedBytes += length
        if (receivedBytes > bound) throw tooLarge(bound)
      },
      check: (found: Digest) => checkHash(found, hash),
    }
    const { digest, inline } = await putUnnamedBlob(cas, options, call)
    const result: ActionResult = resultCodec.decode(NOTHING)
    if (inline !== undefined) result.stdoutRaw = inline
    else result.outputFiles.push({ ...EMPTY_FILE, path: 'body', digest: digest.toMessage() })
    if (Object.keys(headers).length > 0) {
      result.executionMetadata = metadataCodec.decode(NOTHING)
      const value = Buffer.from(JSON.stringify(headers))
      result.executionMetadata.auxiliaryMetadata = [{ typeUrl: HEADERS, value }]
    }
    const identity = visitor?.nameInResults
    if (identity !== undefined) setOrigin(result, { identity })
    const bytes = resultCodec.encode(result)
    for (const key of keys) await putBytes(ac, this.#digestOf(key), bytes, call)
    return digest
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

const checkHash = (found: Digest, hash: string | undefined): void => {
  if (hash === undefined || hash === found.hash) return
  throw new StatusError(
    'INVALID_ARGUMENT',
    `the body has the SHA-256 ${found.hash}, expected ${hash}, as its name says`,
  )
}

const NOTHING = Buffer.alloc(0)
const EMPTY_FILE = { isExecutable: false, contents: NOTHING, nodeProperties: null }

const headersOf = ({ executionMetadata }: ActionResult): Readonly<Record<string, string>> => {
  const kept = executionMetadata?.auxiliaryMetadata.find(({ typeUrl }) => typeUrl === HEADERS)
  return kept === undefined ? {} : JSON.parse(kept.value.toString())
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
