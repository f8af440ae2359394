import { LruCache } from '../../base/lru-cache.js'
import { isStatus } from '../../base/status-error.js'
import { ForwardingStore } from '../../blobs/forwarding.js'
import { getBytes, putBytes, type Store } from '../../blobs/store.js'
import { decodeRecord, encodeRecord } from '../../content/own-record.js'
import { codec } from '../../proto/codec.js'
import { Digest } from '../../reapi/digest.js'
import { digestFunctions } from '../../reapi/digest-function.js'
import type { Call } from '../../rpc/call.js'
import type { Blob } from '../../stream/blob/blob.js'

const resultCodec = codec('build.bazel.remote.execution.v2.ActionResult')
const MAX_NOTE_BYTES = 64 * 1024
const KNOWN = 100_000

/** What a hash is of: an Action, whose result is wanted, or a blob. */
export type HashOf = 'ac' | 'cas'

export interface HashStores {
  /** Contains only results whose outputs are in the CAS. */
  readonly ac: Store
  /** Undefined for an action cache without a CAS. */
  readonly cas: Store | undefined
  /** Whether notes of older versions are read, which every client that may write results could have written. */
  readonly readsOlder: boolean
  /** How many sizes are kept in memory: about 200 bytes each. */
  readonly maxKnown?: number
}

/**
 * The sizes that belong to hashes. Bazel's HTTP protocol names Actions and blobs by their hash only. Stores with an index
 * find them (`Store.sizeOf`). For the others each size is noted: a note of a blob refers to it, so it is a miss once the
 * blob has gone.
 */
export class HashSizes {
  readonly #ac: Store
  readonly #cas: Store | undefined
  readonly #readsOlder: boolean
  readonly #known: LruCache<Digest>

  constructor({ ac, cas, readsOlder, maxKnown = KNOWN }: HashStores) {
    this.#known = new LruCache(maxKnown)
    this.#ac = ac
    this.#readsOlder = readsOlder
    this.#cas = cas
  }

  /** Whether sizes must be noted. */
  areNoted(of: HashOf): boolean {
    return this.#storeOf(of)?.properties.findsByHash !== true
  }

  /** The digest with this SHA-256; undefined if there is no such blob or Action, or if it was not noted. */
  async digestOf(of: HashOf, hash: string, call: Call): Promise<Digest | undefined> {
    const named = Digest.parse({ hash, sizeBytes: 0 }, digestFunctions.SHA256)
    const sizeBytes = await this.#storeOf(of)?.sizeOf(of === 'ac' ? named.asKey() : named, call)
    if (sizeBytes !== undefined) return Digest.parse({ hash, sizeBytes }, digestFunctions.SHA256)
    return this.areNoted(of) ? this.#notedOf(of, hash, call) : undefined
  }

  async #notedOf(of: HashOf, hash: string, call: Call): Promise<Digest | undefined> {
    const known = this.#known.get(of + hash)
    if (known !== undefined) return known
    const key = keyOfSize(of, hash)
    const digest =
      (await this.#read(key, (bytes) => decodeRecord(key, bytes).content, call)) ??
      (this.#readsOlder ? await this.#read(keyOfOlder(of, hash), olderNote, call) : undefined)
    if (digest !== undefined) this.remember(of, digest)
    return digest
  }

  async #read(key: Digest, textIn: (bytes: Buffer) => Buffer, call: Call): Promise<Digest | undefined> {
    try {
      const digest = Digest.ofKey(textIn(await getBytes(this.#ac, key, MAX_NOTE_BYTES, call)).toString())
      return digest?.function === digestFunctions.SHA256 ? digest : undefined
    } catch (error) {
      if (isStatus(error, 'NOT_FOUND')) return undefined
      throw error
    }
  }

  /** For a client that will soon ask for it. */
  remember(of: HashOf, digest: Digest): void {
    if (this.areNoted(of)) this.#known.set(of + digest.hash, digest, 1)
  }

  /** So that it is found after a restart, and by other servers with the same stores. */
  async note(of: HashOf, digest: Digest, call: Call): Promise<void> {
    if (digest.function.name !== 'SHA256' || !this.areNoted(of)) return
    const key = keyOfSize(of, digest.hash)
    const note = { content: Buffer.from(digest.key), blobs: of === 'cas' ? [digest] : [] }
    await putBytes(this.#ac, key, encodeRecord(key, note), call)
    this.remember(of, digest)
  }

  #storeOf(of: HashOf): Store | undefined {
    return of === 'ac' ? this.#ac : this.#cas
  }
}

const keyOfSize = (of: HashOf, hash: string): Digest => Digest.ofOwn('HASH_SIZE', `${of}\0${hash}`)

/** Notes of older versions are ActionResults under a digest that every client can compute. */
const keyOfOlder = (of: HashOf, hash: string): Digest =>
  Digest.of(Buffer.from(['http-size/1', of, hash].join('\0')), digestFunctions.SHA256).asKey()

const olderNote = (bytes: Buffer): Buffer => resultCodec.decode(bytes).stdoutRaw

/** An action cache whose Actions clients of HTTP find by their hashes. */
export const foundByHash = (stores: HashStores): Store => {
  const sizes = new HashSizes(stores)
  return sizes.areNoted('ac') ? new NotedResults(stores.ac, sizes) : stores.ac
}

/** Notes the sizes of the Actions whose results it gets. */
class NotedResults extends ForwardingStore {
  readonly #sizes: HashSizes

  constructor(ac: Store, sizes: HashSizes) {
    super(ac)
    this.#sizes = sizes
  }

  override async put(action: Digest, blob: Blob, call: Call): Promise<void> {
    await super.put(action, blob, call)
    // Entries of HTTP caches and notes are not results of Actions.
    if (action.describesContent) await this.#sizes.note('ac', action, call)
  }
}
