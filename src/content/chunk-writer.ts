import { Digest } from '../reapi/digest.js'
import type { DigestFunction } from '../reapi/digest-function.js'
import type { Call } from '../rpc/call.js'
import { missingOf, type Store } from '../store/contract/store.js'
import { Blob } from '../stream/blob/blob.js'

/** Chunks are gathered up to this size before the store is asked which are missing. One more group may be in flight. */
const GROUP_BYTES = 1024 * 1024
const GROUP_COUNT = 256

/** Writes the chunks of a blob to a store as they arrive. Only missing chunks are uploaded, one group at a time. */
export class ChunkWriter {
  readonly #store: Store
  readonly #digestFunction: DigestFunction
  readonly #call: Call
  readonly #digests: Digest[] = []
  #group = new Map<string, { readonly digest: Digest; readonly bytes: Buffer }>()
  #groupBytes = 0
  #writing: Promise<void> = Promise.resolve()

  constructor(store: Store, digestFunction: DigestFunction, call: Call) {
    this.#store = store
    this.#digestFunction = digestFunction
    this.#call = call
  }

  /** Chunks received so far. */
  get count(): number {
    return this.#digests.length
  }

  async add(bytes: Buffer): Promise<void> {
    const digest = Digest.of(bytes, this.#digestFunction)
    this.#digests.push(digest)
    if (this.#group.has(digest.key)) return
    this.#group.set(digest.key, { digest, bytes })
    this.#groupBytes += bytes.length
    if (this.#groupBytes >= GROUP_BYTES || this.#group.size >= GROUP_COUNT) await this.#flush()
  }

  /** Resolves with the chunks, in order, once the store has them all. */
  async end(): Promise<readonly Digest[]> {
    await this.#flush()
    await this.#writing
    return this.#digests
  }

  /** Waits for the previous group, not for this one. */
  async #flush(): Promise<void> {
    await this.#writing
    if (this.#group.size === 0) return
    const group = this.#group
    this.#group = new Map()
    this.#groupBytes = 0
    this.#writing = this.#write(group)
    // The next caller that waits sees the failure. If the blob fails first, there is none.
    this.#writing.catch(() => {})
  }

  async #write(group: ReadonlyMap<string, { readonly digest: Digest; readonly bytes: Buffer }>): Promise<void> {
    const digests = [...group.values()].map(({ digest }) => digest)
    const missing = await missingOf(this.#store, digests, this.#call)
    const entries = missing.flatMap((digest) => {
      const bytes = group.get(digest.key)?.bytes
      return bytes === undefined ? [] : [{ digest, blob: Blob.ofBytes(bytes).assumeVerified(digest) }]
    })
    const outcomes = await this.#store.putAll(entries, this.#call)
    const failure = outcomes.find((outcome) => outcome !== undefined)
    if (failure !== undefined) throw failure
  }
}
