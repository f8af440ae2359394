import type { LentBuffer } from '../base/lent-buffers.js'
import { missingOf, type Store } from '../blobs/store.js'
import type { Chunking } from '../reapi/chunking.js'
import { Digest } from '../reapi/digest.js'
import { type Call, callWith } from '../rpc/call.js'
import { Blob } from '../stream/blob/blob.js'
import { cutBlob } from '../stream/chunking/cut-blob.js'

/** By default chunks are gathered up to this size before the store is asked which are missing. One more group may be in flight. */
const GROUP_BYTES = 1024 * 1024
const GROUP_COUNT = 256

/** Cuts a blob and writes its chunks to a store as they arrive. Only missing chunks are uploaded, one group at a time. */
export class ChunkWriter {
  readonly #store: Store
  readonly #of: Digest
  readonly #call: Call
  readonly #groupLimitBytes: number
  readonly #digests: Digest[] = []
  #group: Group = new Map()
  #groupBytes = 0
  #missingBytes = 0
  #writing: Promise<void> = Promise.resolve()

  /** Of the blob `of`: its chunks get keys of the same instance. */
  constructor(store: Store, of: Digest, call: Call, groupBytes = GROUP_BYTES) {
    this.#groupLimitBytes = groupBytes
    this.#store = store
    this.#of = of
    // Also across groups, so that a reader finds them side by side.
    this.#call = callWith(call, { together: {} })
  }

  /**
   * Cuts a blob and writes its chunks. Resolves with them, in order, once the store has them all. Settles after all
   * writes. `check` sees how many chunks came before each, and may throw.
   */
  async write(blob: Blob, chunking: Chunking, check: (count: number) => void = () => {}): Promise<readonly Digest[]> {
    const add = async (chunk: LentBuffer): Promise<void> => {
      check(this.#digests.length)
      await this.#add(chunk)
    }
    try {
      await cutBlob(blob, chunking, add, this.#call.signal)
      await this.#flush()
      await this.#writing
      return this.#digests
    } catch (error) {
      for (const { chunk } of this.#group.values()) chunk.release()
      this.#group.clear()
      await this.#writing.catch(() => {})
      throw error
    }
  }

  async #add(chunk: LentBuffer): Promise<void> {
    const digest = Digest.of(chunk.bytes, this.#of.function)
    this.#digests.push(digest)
    if (this.#group.has(digest.key)) return chunk.release()
    this.#group.set(digest.key, { digest: this.#of.beside(digest), chunk })
    this.#groupBytes += chunk.bytes.length
    if (this.#groupBytes >= this.#groupLimitBytes || this.#group.size >= GROUP_COUNT) await this.#flush()
  }

  /** Bytes of the chunks that the store did not have. Complete once `write` has resolved. */
  get missingBytes(): number {
    return this.#missingBytes
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

  async #write(group: Group): Promise<void> {
    const digests = [...group.values()].map(({ digest }) => digest)
    const missing = await missingOf(this.#store, digests, this.#call)
    this.#missingBytes += missing.reduce((sum, { sizeBytes }) => sum + sizeBytes, 0)
    const entries = missing.flatMap((digest) => {
      const bytes = group.get(digest.content.key)?.chunk.bytes
      return bytes === undefined ? [] : [{ digest, blob: Blob.ofBytes(bytes).assumeVerified(digest) }]
    })
    const outcomes = entries.length === 0 ? [] : await this.#store.putAll(entries, this.#call)
    // A store that failed to keep a chunk may still read it: a request that was given up is still in flight.
    for (const [at, { digest }] of entries.entries()) if (outcomes[at] !== undefined) group.delete(digest.content.key)
    for (const { chunk } of group.values()) chunk.release()
    const failure = outcomes.find((outcome) => outcome !== undefined)
    if (failure !== undefined) throw failure
  }
}

type Group = Map<string, { readonly digest: Digest; readonly chunk: LentBuffer }>
