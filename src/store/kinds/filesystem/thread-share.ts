import type { MessagePort } from 'node:worker_threads'
import type { FinishedFile } from '../../../blobs/store.js'
import type { Digest } from '../../../reapi/digest.js'
import type { Call } from '../../../rpc/call.js'
import type { SharedStore } from '../../contract/kind.js'
import type { IndexShare } from '../../index/memory.js'
import type { Claimant } from '../../index/promises.js'
import type { Catalog } from './catalog.js'
import type { Refused } from './commit-group.js'
import type { FilesystemStore } from './file-store.js'
import type { Wrong } from './read-catalog.js'

/** What a service thread needs to read and write the blobs of a store. */
export interface FileShareData {
  /** Of the store in the configuration. */
  readonly path: string
  readonly index: IndexShare
  readonly contentPath: string
  readonly tempPath: string
  /** Begins the names of the thread's temporary files. */
  readonly writer: string
  readonly retentionMs: number
  readonly isSynced: boolean
  /** The largest blob that fits when it is alone; infinite without a limit. */
  readonly maxBlobBytes: number
  readonly settings: ThreadSettings
}

/** What is the same on each thread. */
export interface ThreadSettings {
  readonly recentBytes: number
  readonly bufferBytes: number
  readonly smallBytes: number
  readonly blockBytes: number
  /** File writes in flight on one thread; 0 means no limit. */
  readonly maxWrites: number
  /** Counts incomplete files of all threads. */
  readonly inFlightCounters: SharedArrayBuffer | undefined
}

/** The owner's side of a file store that service threads use. */
export class FileShare implements SharedStore {
  readonly path: string
  onRetired: ((number: number) => void) | undefined
  readonly #catalog: Catalog
  readonly #store: FilesystemStore
  readonly #settings: ThreadSettings
  #shareCount = 0

  constructor(path: string, catalog: Catalog, store: FilesystemStore, settings: ThreadSettings) {
    this.path = path
    this.#catalog = catalog
    this.#store = store
    this.#settings = settings
    catalog.records.onRetire = (number) => this.onRetired?.(number)
  }

  share(): { readonly data: FileShareData; readonly ports: readonly MessagePort[] } {
    const { index: blobs, layout, syncs } = this.#catalog
    const index = blobs.share()
    const { retentionMs, maxBlobBytes } = blobs
    const { contentPath, tempPath } = layout
    const about = { contentPath, tempPath, writer: `t${++this.#shareCount}-`, isSynced: syncs !== undefined }
    return {
      data: { path: this.path, index, ...about, retentionMs, maxBlobBytes, settings: this.#settings },
      ports: [index.port],
    }
  }

  used(slots: Int32Array): void {
    this.#catalog.index.usedElsewhere(slots)
  }

  hold(slots: Int32Array, claimant: Claimant): void {
    this.#catalog.index.holdSlots(slots, claimant)
  }

  commit(digest: Digest, file: FinishedFile, call: Call): Promise<void> {
    return this.#store.commit(digest, file, call)
  }

  commitSmall(drafts: Uint8Array, claimant: Claimant): Promise<readonly Refused[]> {
    return this.#store.commitDrafts(drafts, claimant)
  }

  async damaged(digest: Digest, slot: number, location: number, why: Wrong): Promise<void> {
    const located = this.#catalog.find(digest)
    if (located?.slot === slot && located.location === location) await this.#catalog.dropDamaged(located, why)
  }
}
