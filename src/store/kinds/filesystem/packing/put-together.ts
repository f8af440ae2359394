import { StatusError } from '../../../../base/status-error.js'
import { type BlobEntry, type Outcomes, outcomeOf } from '../../../../blobs/store.js'
import type { Digest } from '../../../../reapi/digest.js'
import { type Call, cancelledBy } from '../../../../rpc/call.js'
import type { BlobForm } from '../../../../stream/blob/form.js'
import type { Semaphore } from '../../../../work/semaphore.js'
import type { Catalog } from '../catalog.js'
import { keyFor } from '../located.js'
import type { Packed } from '../packs/packs.js'

/** How the store keeps a blob by itself, and notes failures. */
interface Alone {
  putForm(digest: Digest, form: BlobForm, call: Call): Promise<void>
  telling(digest: Digest, write: () => Promise<void>): Promise<void>
}

interface InMemory {
  readonly entry: BlobEntry
  readonly key: Digest
  readonly bytes: Buffer
}

/** Keeps blobs that belong together side by side in a pack. What is not in memory becomes a file by itself. */
export class PutTogether {
  readonly #catalog: Catalog
  readonly #writeSlots: Semaphore
  readonly #alone: Alone

  constructor(catalog: Catalog, writeSlots: Semaphore, alone: Alone) {
    this.#catalog = catalog
    this.#writeSlots = writeSlots
    this.#alone = alone
  }

  async put(entries: readonly BlobEntry[], together: object, call: Call): Promise<Outcomes> {
    const outcomes = new Map<BlobEntry, Outcomes[number]>()
    const inMemory: InMemory[] = []
    for (const entry of entries) {
      const { digest, blob } = entry
      const cancelled = cancelledBy(call)
      if (cancelled !== undefined) {
        blob.discard()
        outcomes.set(entry, cancelled)
        continue
      }
      const key = keyFor(digest, blob)
      // A blob whose bytes prove wrong is no reason to leave the others.
      const form = await blob.take().catch((error: unknown) => StatusError.from(error))
      if (form instanceof StatusError) outcomes.set(entry, form)
      else if (form.kind === 'bytes' && this.#catalog.index.fits(form.bytes.length)) {
        inMemory.push({ entry, key, bytes: form.bytes })
      } else outcomes.set(entry, await outcomeOf(this.#alone.putForm(key, form, call)))
    }
    const kept = await this.#pack(inMemory, together, call)
    for (const [at, { entry }] of inMemory.entries()) outcomes.set(entry, kept[at])
    return entries.map((entry) => outcomes.get(entry))
  }

  /** In one write. */
  async #pack(entries: readonly InMemory[], together: object, call: Call): Promise<Outcomes> {
    if (entries.length === 0) return []
    const { packs } = this.#catalog
    const each = (keep: (one: InMemory, at: number) => Promise<void>): Promise<Outcomes> =>
      Promise.all(entries.map((one, at) => outcomeOf(this.#alone.telling(one.entry.digest, () => keep(one, at)))))
    let places: readonly Packed[]
    try {
      places = await this.#write(entries, together, call)
    } catch (error) {
      return each(() => Promise.reject(error))
    }
    try {
      return await each(({ key, bytes }, at) => this.#catalog.commitPacked(key, places[at] as Packed, bytes, call))
    } finally {
      packs.letGo((places[0] as Packed).pack)
    }
  }

  async #write(entries: readonly InMemory[], together: object, call: Call): Promise<readonly Packed[]> {
    const { index, packs } = this.#catalog
    for (const { entry, bytes } of entries) index.checkRoomFor(entry.digest, bytes.length)
    const end = await this.#writeSlots.acquire('a turn to write', call.signal)
    const buffers = entries.map(({ bytes }) => bytes)
    return packs.write(together, buffers).finally(end)
  }
}
