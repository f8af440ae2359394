import { isStatus } from '../../../base/status-error.js'
import type { Store } from '../../../blobs/store.js'
import type { Digest } from '../../../reapi/digest.js'
import type { DigestBatch } from '../../../reapi/digest-batch.js'
import type { Call } from '../../../rpc/call.js'
import { joinParts } from '../../../stream/chunking/joined-file.js'
import type { ChunkIndex } from './chunk-index.js'
import { partsBetween } from './parts.js'

/**
 * Blobs of chunk size that exist only as a list, from when chunks were smaller. Clients use the digest of such a blob as
 * that of a chunk, so the blob itself has to be there: it is put together when its digest is asked for.
 */
export class OlderLists {
  readonly #index: ChunkIndex
  readonly #content: Store
  readonly #aheadCount: number

  constructor(index: ChunkIndex, content: Store, aheadCount: number) {
    this.#index = index
    this.#content = content
    this.#aheadCount = aheadCount
  }

  /** Puts together what it can of blobs that the content store does not have. Returns those that stay missing. */
  restore(missing: DigestBatch, call: Call): Promise<DigestBatch> {
    const restoreListed = (areUnlisted: boolean): DigestBatch | Promise<DigestBatch> =>
      areUnlisted ? missing : this.#restoreListed(missing, call)
    return this.#index.areUnlisted(missing, call).then(restoreListed)
  }

  async #restoreListed(missing: DigestBatch, call: Call): Promise<DigestBatch> {
    const listed = missing.except(await this.#index.findMissing(missing, this.#content, call))
    if (listed.count === 0) return missing
    const restored: number[] = []
    for (let at = 0; at < listed.count; at++) if (await this.#restoreOne(listed.at(at), call)) restored.push(at)
    return missing.except(listed.select(restored))
  }

  async #restoreOne(digest: Digest, call: Call): Promise<boolean> {
    try {
      const { chunks } = await this.#index.listOf(digest, call)
      const parts = partsBetween(digest, chunks, { offset: 0, end: digest.sizeBytes }, this.#content, call)
      const joined = await joinParts(parts, { aheadCount: this.#aheadCount, signal: call.signal })
      await this.#content.put(digest, joined.verify(digest, { fault: 'backend' }), call)
    } catch (error) {
      if (isStatus(error, 'NOT_FOUND') || isStatus(error, 'DATA_LOSS')) return false
      throw error
    }
    await this.#index.remove(digest, 'unwanted', call)
    return true
  }
}
