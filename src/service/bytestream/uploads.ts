import type { Clock } from '../../base/clock.js'
import type { Store } from '../../blobs/store.js'
import type { Holder } from '../../ledger/holder.js'
import { Ledger } from '../../ledger/ledger.js'
import type { Digest } from '../../reapi/digest.js'
import type { Call } from '../../rpc/call.js'
import type { Windows } from '../windows.js'
import { Parking } from './parking.js'
import { Upload, type UploadTarget } from './upload.js'

/** An interrupted upload that a Write can continue. */
export interface Resumable {
  readonly receivedBytes: number
  resume(call: Call): Promise<Upload>
}

/**
 * All uploads in progress, and the interrupted ones that can be resumed (parked). Shared by all instances of a process,
 * so that instances over one store see each other's uploads. A parked upload is dropped in two cases: newer parked
 * uploads of its instance need its share of the ledger, or its store needs the room for a live upload.
 */
export class Uploads {
  readonly clock: Clock
  readonly #byStore = new Map<Store, Map<string, Set<Upload>>>()
  readonly #parking: Parking<Upload>

  constructor(clock: Clock, ledger = new Ledger()) {
    this.clock = clock
    this.#parking = new Parking<Upload>(ledger, clock, (upload) => upload.discard())
  }

  /** Starts an upload. It continues after `call` has ended, unless it is compressed. */
  begin(target: UploadTarget, call: Call, windows?: Windows): Upload {
    const upload = new Upload(target, call, { giveWay: (address) => this.#giveWay(target.cas, address), windows })
    const same = this.#sameBlob(target.cas, target.digest)
    same.add(upload)
    const end = (): void => {
      this.#parking.remove(upload)
      same.delete(upload)
      if (same.size === 0) this.#byStore.get(target.cas)?.delete(target.digest.key)
    }
    upload.over.then((outcome) => {
      end()
      if (outcome === 'committed') this.finished(target.cas, target.digest)
    }, end)
    return upload
  }

  /** Ends all other uploads of a blob that is now in the CAS. */
  finished(cas: Store, digest: Digest): void {
    for (const other of this.#byStore.get(cas)?.get(digest.key) ?? []) other.finishElsewhere()
  }

  /**
   * The upload that a Write of this name can resume: a parked one, or one whose client has disconnected without notice. Of
   * several, the one with the most bytes.
   */
  async find({ name, cas, digest }: UploadTarget): Promise<Resumable | undefined> {
    let furthest: Upload | undefined
    for (const upload of this.#byStore.get(cas)?.get(digest.key) ?? []) {
      if (upload.target.name !== name || !upload.target.isResumable || !upload.isLive || upload.isBusy) continue
      if (furthest === undefined || upload.receivedBytes > furthest.receivedBytes) furthest = upload
    }
    const found = furthest
    if (found === undefined) return undefined
    const resume = async (): Promise<Upload> => {
      this.#parking.remove(found)
      return found
    }
    return { receivedBytes: found.receivedBytes, resume }
  }

  /** Keeps an interrupted upload for `parkedForMs`. Discards it if it cannot be resumed or the ledger has no room. */
  park(upload: Upload): void {
    if (!upload.isLive) return
    const { target, receivedBytes } = upload
    const { instanceName, parkedForMs } = target
    const isKept = target.isResumable && receivedBytes > 0
    if (!isKept || !this.#parking.add(upload, { instanceName, receivedBytes, parkedForMs })) upload.discard()
  }

  /** Discards every upload. Resolves when nothing is left of them. */
  async close(): Promise<void> {
    const all = [...this.#byStore.values()].flatMap((blobs) => [...blobs.values()].flatMap((uploads) => [...uploads]))
    for (const upload of all) upload.discard()
    await Promise.allSettled(all.map(({ over }) => over))
  }

  /**
   * Discards the oldest parked upload into a store, of this address if one is given. Resolves to true once its room is free, to
   * false if there is none.
   */
  async #giveWay(cas: Store, address: Holder | undefined): Promise<boolean> {
    for (const upload of this.#parking.items()) {
      if (upload.target.cas !== cas || (address !== undefined && upload.address !== address)) continue
      this.#parking.remove(upload)
      upload.discard()
      await upload.over.catch(() => {})
      return true
    }
    return false
  }

  #sameBlob(cas: Store, { key }: Digest): Set<Upload> {
    const blobs = this.#byStore.get(cas) ?? new Map<string, Set<Upload>>()
    this.#byStore.set(cas, blobs)
    const uploads = blobs.get(key) ?? new Set<Upload>()
    blobs.set(key, uploads)
    return uploads
  }
}
