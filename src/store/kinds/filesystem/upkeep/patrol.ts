import { readdir } from 'node:fs/promises'
import { setImmediate } from 'node:timers/promises'
import { errnoOf, fileFailure } from '../../../../base/errno.js'
import { ABSENT } from '../../../index/blob-index.js'
import type { BlobName } from '../layout.js'
import { Rounds, type UpkeepParts } from '../rounds.js'

/** Names or slots processed before yielding to the event loop: well below a millisecond. */
const SLICE = 500

/** How long a deleted file may go unnoticed if nothing reads it. */
const PERIOD_MS = 60_000
const RETRY_MS = 5000
/** Maximum share of the time for rounds. */
const SHARE_MAX = 1 / 50

/**
 * Lists the folders of files in rounds. Unknown files (uploads interrupted by a kill) are deleted, and blobs without
 * their file are dropped. An unreadable folder is logged and tried again; the round continues with the other folders.
 */
export class Patrol extends Rounds {
  readonly #parts: UpkeepParts
  #nextMs = 0
  #failure: string | undefined
  #hasGoneRound = false

  constructor(parts: UpkeepParts) {
    super(parts, RETRY_MS, 'could not check the files of a store')
    this.#parts = parts
  }

  /** Why a folder could not be read in the last round; undefined when all could. */
  get failure(): string | undefined {
    return this.#failure
  }

  /** Whether a round over all folders was completed since the start. */
  get hasGoneRound(): boolean {
    return this.#hasGoneRound
  }

  protected override round(): Promise<void> | undefined {
    return this.#parts.clock.now() < this.#nextMs ? undefined : this.#goRound()
  }

  async #goRound(): Promise<void> {
    const { catalog, clock, log } = this.#parts
    const beganMs = clock.now()
    const seen = new Uint8Array(catalog.index.slotCount)
    let failure: string | undefined
    const fail = (error: unknown): void => {
      if (this.#failure === undefined && failure === undefined)
        log.error('could not list the files of a store', { error })
      failure ??= fileFailure(error, 'could not list the files of the store').message
    }
    for (const name of await catalog.layout.folders(fail)) {
      if (this.isStopped) return
      await this.#goThrough(name, seen).catch(fail)
    }
    await this.#lookForUnseen(seen)
    this.#failure = failure
    this.#hasGoneRound = true
    const restMs = Math.max(PERIOD_MS, (clock.now() - beganMs) / SHARE_MAX)
    if (failure === undefined) this.#nextMs = clock.now() + restMs
  }

  async #goThrough(folder: string, seen: Uint8Array): Promise<void> {
    const { layout } = this.#parts.catalog
    const names = await readdir(layout.folderPath(folder)).catch((error: unknown) => {
      if (errnoOf(error) === 'ENOENT') return []
      throw error
    })
    for (const [at, name] of names.entries()) {
      const blob = layout.parse(folder, name)
      if (blob !== undefined) this.#meet(blob, seen)
      if (at % SLICE === SLICE - 1) await setImmediate()
      if (this.isStopped) return
    }
  }

  #meet({ digest, storedBytes, isExecutable: isTwin }: BlobName, seen: Uint8Array): void {
    const { index, layout, unlinker } = this.#parts.catalog
    const slot = index.find(digest)
    const isKnown = slot !== ABSENT && index.kindOf(slot) === 'file' && index.storedBytesOf(slot) === storedBytes
    if (isKnown && (!isTwin || index.hasExecutable(slot))) {
      if (!isTwin) seen[slot] = 1
      return
    }
    if (this.#parts.catalog.isCommitting(digest)) return
    void unlinker.unlink(isTwin ? layout.executablePath(digest, storedBytes) : layout.blobPath(digest, storedBytes))
  }

  /** Checks the blobs whose file was not listed: it is gone, or newer than the listing. */
  async #lookForUnseen(seen: Uint8Array): Promise<void> {
    const { catalog, inspection } = this.#parts
    for (const slot of catalog.index.slots()) {
      if (this.isStopped) return
      if (slot % SLICE === SLICE - 1) await setImmediate()
      if (catalog.index.kindOf(slot) === 'file' && seen[slot] !== 1) await inspection.look(catalog.at(slot))
    }
  }
}
