import { unlink } from 'node:fs/promises'
import type { Clock } from '../../base/clock.js'
import type { Ledger } from '../../ledger/ledger.js'
import type { UploadPart } from '../../rpc/call.js'
import { type Interrupted, Parking } from './parking.js'

interface Kept {
  readonly name: string
  readonly part: UploadPart
}

/** A part of an upload, as a thread gives it away. */
export interface GivenPart extends Omit<Interrupted, 'receivedBytes'> {
  /** Of the upload (`UploadTarget`). */
  readonly name: string
  readonly part: UploadPart
}

/** What has arrived of uploads that were interrupted on service threads. Any thread may continue one, by its name. */
export class KeptParts {
  readonly #parking: Parking<Kept>
  readonly #byName = new Map<string, Kept>()
  readonly #deletions = new Set<Promise<void>>()

  constructor(clock: Clock, ledger: Ledger) {
    this.#parking = new Parking<Kept>(ledger, clock, (kept) => this.#drop(kept))
  }

  /** Of two with the same name, the larger one stays. */
  keep({ name, part, ...about }: GivenPart): void {
    const kept: Kept = { name, part }
    const receivedBytes = sizeOf(part)
    const other = this.#byName.get(name)
    if (other !== undefined && sizeOf(other.part) >= receivedBytes) {
      this.#drop(kept)
      return
    }
    if (other !== undefined) {
      this.#parking.remove(other)
      this.#drop(other)
    }
    this.#byName.set(name, kept)
    if (!this.#parking.add(kept, { ...about, receivedBytes })) this.#drop(kept)
  }

  sizeOf(name: string): number | undefined {
    const kept = this.#byName.get(name)
    return kept && sizeOf(kept.part)
  }

  /** The caller owns it from now on. */
  take(name: string): UploadPart | undefined {
    const kept = this.#byName.get(name)
    if (kept === undefined) return undefined
    this.#byName.delete(name)
    this.#parking.remove(kept)
    return kept.part
  }

  /** Deletes all. */
  async close(): Promise<void> {
    for (const kept of [...this.#parking.items()]) {
      this.#parking.remove(kept)
      this.#drop(kept)
    }
    await Promise.all(this.#deletions)
  }

  #drop(kept: Kept): void {
    if (this.#byName.get(kept.name) === kept) this.#byName.delete(kept.name)
    if (kept.part instanceof Uint8Array) return
    // A file that cannot be deleted is deleted at the next start, as all incomplete uploads are.
    const deletion: Promise<void> = unlink(kept.part.path)
      .catch(() => {})
      .finally(() => this.#deletions.delete(deletion))
    this.#deletions.add(deletion)
  }
}

const sizeOf = (part: UploadPart): number => (part instanceof Uint8Array ? part.length : part.sizeBytes)
