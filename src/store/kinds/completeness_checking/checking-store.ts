import { LruCache } from '../../../base/lru-cache.js'
import { isStatus, StatusError } from '../../../base/status-error.js'
import { ForwardingStore } from '../../../blobs/forwarding.js'
import { ResultMiss } from '../../../blobs/result-miss.js'
import { removeIfPossible, type Store, type StoreProperties } from '../../../blobs/store.js'
import type { DirectoryTrees } from '../../../content/directory-trees.js'
import { referencedByRecord } from '../../../content/own-record.js'
import { codec } from '../../../proto/codec.js'
import { type ReferencedBlobs, referencedBlobs } from '../../../reapi/action-result.js'
import type { Digest } from '../../../reapi/digest.js'
import type { DigestBatch } from '../../../reapi/digest-batch.js'
import type { Call } from '../../../rpc/call.js'
import { Blob } from '../../../stream/blob/blob.js'
import { type Range, WHOLE } from '../../../stream/path.js'
import { boundedMap, LANES } from '../../../work/bounded-map.js'
import { isolatedView } from '../../view/isolated.js'
import { firstMissing } from './first-missing.js'

const resultCodec = codec('build.bazel.remote.execution.v2.ActionResult')

/** Results are read into memory. A larger one does not fit in a message and is not worth checking. */
const MAX_RESULT_BYTES = 64 * 1024 * 1024

/** Bound on the encoded length of the remembered results. The digests kept of them take a few times that. */
const KNOWN_BYTES = 2 * 1024 * 1024
const OVERHEAD_BYTES = 400

/** A power of two. */
const LATELY_SLOTS = 8192

interface KnownResult {
  readonly bytes: Buffer
  readonly referenced: ReferencedBlobs
}

/**
 * An action cache that returns a result only while every blob it refers to is in a CAS. Otherwise it throws a ResultMiss,
 * so that the client builds again. A hit counts as a use of each of these blobs (REAPI, GetActionResult). An entry that
 * is not an ActionResult, or not a record under a key of the server's own, is dropped, because it is useless and its presence
 * would prevent its replacement.
 */
export class CompletenessCheckingStore extends ForwardingStore {
  readonly #cas: Store | undefined
  readonly #trees: DirectoryTrees
  readonly #known = new LruCache<KnownResult>(KNOWN_BYTES)
  readonly #asked = new LatelyAsked()

  constructor(backend: Store, cas: Store | undefined, trees: DirectoryTrees) {
    super(backend)
    this.#cas = cas
    this.#trees = trees
  }

  override get properties(): StoreProperties {
    return { ...this.backend.properties, checksCompleteness: true }
  }

  override async findMissing(digests: DigestBatch, call: Call): Promise<DigestBatch> {
    const indexes = Array.from({ length: digests.count }, (_, index) => index)
    const found = await boundedMap(indexes, LANES, (index) => this.#has(digests.at(index).asKey(), call))
    return digests.select(indexes.filter((index) => found[index] !== true))
  }

  override async get(action: Digest, range: Range, call: Call): Promise<Blob> {
    const blob = await this.backend.get(action, WHOLE, call)
    const bytes = await blob.bytes(MAX_RESULT_BYTES, call)
    const referenced = this.#referencedBy(bytes, action)
    if (referenced instanceof StatusError) return this.#drop(action, referenced, call)
    const asked = this.#firstMissing(referenced, action, call)
    const missing = asked && (await asked.catch((error: unknown) => damaged(error, action, call)))
    if (missing !== undefined) {
      throw new ResultMiss({ kind: 'incomplete', output: missing }, `output ${missing.key} is no longer in the CAS`)
    }
    return Blob.ofPart(bytes, range, action.key)
  }

  #firstMissing(
    referenced: ReferencedBlobs,
    { instanceName }: Digest,
    call: Call,
  ): Promise<Digest | undefined> | undefined {
    if (this.#cas === undefined || isEmpty(referenced)) return undefined
    // An instance with its own view has its outputs where its results are.
    const cas = instanceName === undefined ? this.#cas : isolatedView(this.#cas, instanceName)
    return firstMissing(referenced, { cas, trees: this.#trees, call })
  }

  async #has(action: Digest, call: Call): Promise<boolean> {
    try {
      ;(await this.get(action, WHOLE, call)).discard()
      return true
    } catch (error) {
      if (isStatus(error, 'NOT_FOUND')) return false
      throw error
    }
  }

  /**
   * Returns an error when the bytes are not an ActionResult. Only results asked for repeatedly are remembered, because
   * keeping the bytes of every result costs more than decoding it.
   */
  #referencedBy(bytes: Buffer, action: Digest): ReferencedBlobs | StatusError {
    const isAskedAgain = this.#asked.note(action)
    const before = isAskedAgain ? this.#known.get(action.key) : undefined
    if (before?.bytes.equals(bytes) === true) return before.referenced
    const referenced = referencedIn(bytes, action)
    if (isAskedAgain && !(referenced instanceof StatusError))
      this.#known.set(action.key, { bytes, referenced }, bytes.length + OVERHEAD_BYTES)
    return referenced
  }

  async #drop(action: Digest, error: StatusError, call: Call): Promise<never> {
    call.log.warn('dropped an action cache entry that is not an ActionResult or a record of the server', {
      action: action.key,
      error,
    })
    await removeIfPossible(this, action, 'wrong', call)
    throw new ResultMiss({ kind: 'damaged' }, 'the entry was damaged')
  }
}

/** A Tree or Directory in the CAS that cannot be decoded is no mistake of the reader of a result: the action runs again. */
const damaged = (error: unknown, action: Digest, call: Call): never => {
  if (!isStatus(error, 'INVALID_ARGUMENT')) throw error
  call.log.warn('a result names a directory tree that cannot be decoded', { action: action.key, error })
  throw new ResultMiss({ kind: 'damaged' }, `a directory tree of the result cannot be decoded: ${error.message}`)
}

const isEmpty = ({ blobs, trees, rootDirectories }: ReferencedBlobs): boolean =>
  blobs.count === 0 && trees.length === 0 && rootDirectories.length === 0

/** Which digests were noted recently, approximately: a digest replaces another one that begins with the same bits. */
class LatelyAsked {
  readonly #words = new Int32Array(LATELY_SLOTS)

  /** Returns whether the digest was noted before. */
  note(digest: Digest): boolean {
    const slot = digest.hashWord(0) & (LATELY_SLOTS - 1)
    const word = digest.hashWord(1)
    if (this.#words[slot] === word) return true
    this.#words[slot] = word
    return false
  }
}

const referencedIn = (bytes: Buffer, action: Digest): ReferencedBlobs | StatusError => {
  try {
    if (action.isOwn) return referencedByRecord(action, bytes)
    return referencedBlobs(resultCodec.decode(bytes), action.function)
  } catch (error) {
    if (isStatus(error, 'INVALID_ARGUMENT')) return error
    throw error
  }
}

/**
 * An action cache that checks its results against `cas`, a CAS view (`asCas`), unless it already does. Without a CAS it
 * only drops entries that are not results.
 */
export const withCompleteness = (actionCache: Store, cas: Store | undefined, trees: DirectoryTrees): Store =>
  actionCache.properties.checksCompleteness ? actionCache : new CompletenessCheckingStore(actionCache, cas, trees)
