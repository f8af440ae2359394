import type { MessagePort } from 'node:worker_threads'
import type { Digest } from '../../../reapi/digest.js'
import type { ThreadReadStore } from '../../contract/kind.js'
import type { IndexShare } from '../../index/memory.js'
import type { Claimant } from '../../index/promises.js'
import type { Catalog } from './catalog.js'

/** What a service thread needs to read the blobs of a store. */
export interface FileShareData {
  readonly index: IndexShare
  readonly contentPath: string
  readonly retentionMs: number
  readonly recentBytes: number
  readonly bufferBytes: number
}

/** The owner's side of a file store that service threads read. */
export class FileShare implements ThreadReadStore {
  readonly path: string
  onRetired: ((number: number) => void) | undefined
  readonly #catalog: Catalog
  readonly #options: Pick<FileShareData, 'recentBytes' | 'bufferBytes'>

  constructor(path: string, catalog: Catalog, options: Pick<FileShareData, 'recentBytes' | 'bufferBytes'>) {
    this.path = path
    this.#catalog = catalog
    this.#options = options
    catalog.records.onRetire = (number) => this.onRetired?.(number)
  }

  share(): { readonly data: FileShareData; readonly ports: readonly MessagePort[] } {
    const { index: blobs, layout } = this.#catalog
    const index = blobs.share()
    const { retentionMs } = blobs
    const { recentBytes, bufferBytes } = this.#options
    return {
      data: { index, contentPath: layout.contentPath, retentionMs, recentBytes, bufferBytes },
      ports: [index.port],
    }
  }

  used(slots: Int32Array): void {
    this.#catalog.index.usedElsewhere(slots)
  }

  hold(slots: Int32Array, claimant: Claimant): void {
    this.#catalog.index.holdSlots(slots, claimant)
  }

  async damaged(digest: Digest, slot: number, location: number): Promise<void> {
    const located = this.#catalog.find(digest)
    if (located?.slot === slot && located.location === location) await this.#catalog.dropDamaged(located)
  }
}
