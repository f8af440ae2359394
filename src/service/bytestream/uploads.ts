import type { Clock } from '../../base/clock.js'
import { PARKED_BYTES } from '../../ledger/kinds.js'
import { Ledger } from '../../ledger/ledger.js'
import type { Reservation } from '../../ledger/reservation.js'
import type { Digest } from '../../reapi/digest.js'
import type { Call } from '../../rpc/call.js'
import type { Store } from '../../store/contract/store.js'
import { Upload, type UploadTarget } from './upload.js'

/**
 * All uploads in progress, and the interrupted ones that can be resumed (parked). Shared by all instances of a process,
 * so that instances over one store see each other's uploads. A parked upload is dropped in two cases: newer parked
 * uploads of its instance need its share of the ledger, or its store needs the room for a live upload.
 */
export class Uploads {
  readonly clock: Clock
  readonly #ledger: Ledger
  readonly #byStore = new Map<Store, Map<string, Set<Upload>>>()
  /** Oldest first. */
  readonly #parked = new Map<Upload, Parked>()
  #stopSweep: (() => void) | undefined

  constructor(clock: Clock, ledger = new Ledger()) {
    this.clock = clock
    this.#ledger = ledger
  }

  /** Starts an upload. It continues after `call` has ended. */
  begin(target: UploadTarget, call: Call): Upload {
    const upload = new Upload(target, call, () => this.#giveWay(target.cas))
    const same = this.#sameBlob(target.cas, target.digest)
    same.add(upload)
    const end = (): void => {
      this.#unpark(upload)
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

  /** The upload that a Write of this name can resume; of several, the one with the most bytes. */
  find({ name, cas, digest }: UploadTarget): Upload | undefined {
    let furthest: Upload | undefined
    for (const upload of this.#byStore.get(cas)?.get(digest.key) ?? []) {
      if (upload.target.name !== name || !upload.target.isResumable || !upload.isLive || upload.isBusy) continue
      if (furthest === undefined || upload.receivedBytes > furthest.receivedBytes) furthest = upload
    }
    return furthest
  }

  /** Takes over a parked upload, or one whose client has disconnected without notice. */
  resume(upload: Upload): void {
    this.#unpark(upload)
  }

  /** Keeps an interrupted upload for `parkedForMs`. Discards it if it cannot be resumed or the ledger has no room. */
  park(upload: Upload): void {
    if (!upload.isLive) return
    if (!upload.target.isResumable || upload.receivedBytes === 0) {
      upload.discard()
      return
    }
    const { target, receivedBytes } = upload
    const holder = this.#ledger.instance(target.instanceName)
    const reservation = this.#ledger.kinds.parked.reserve(holder, receivedBytes + PARKED_BYTES, () =>
      this.#drop(upload),
    )
    if (reservation === undefined) {
      upload.discard()
      return
    }
    this.#parked.set(upload, { reservation, untilMs: this.clock.now() + target.parkedForMs })
    this.#sweep()
    if (this.#parked.size > 0) this.#stopSweep ??= this.clock.every(SWEEP_MS, () => this.#sweep())
  }

  /** Discards every upload. */
  close(): void {
    for (const blobs of this.#byStore.values()) {
      for (const uploads of blobs.values()) for (const upload of uploads) upload.discard()
    }
    for (const upload of this.#parked.keys()) this.#unpark(upload)
  }

  #sweep(): void {
    for (const [upload, { untilMs }] of this.#parked) if (untilMs <= this.clock.now()) this.#drop(upload)
  }

  #drop(upload: Upload): void {
    this.#unpark(upload)
    upload.discard()
  }

  /**
   * Discards the oldest parked upload into a store. Resolves to true once its room is free, to false if there is none.
   */
  async #giveWay(cas: Store): Promise<boolean> {
    for (const upload of this.#parked.keys()) {
      if (upload.target.cas !== cas) continue
      this.#drop(upload)
      await upload.over.catch(() => {})
      return true
    }
    return false
  }

  #unpark(upload: Upload): void {
    const parked = this.#parked.get(upload)
    if (parked === undefined) return
    this.#parked.delete(upload)
    parked.reservation.release()
    if (this.#parked.size > 0) return
    this.#stopSweep?.()
    this.#stopSweep = undefined
  }

  #sameBlob(cas: Store, { key }: Digest): Set<Upload> {
    const blobs = this.#byStore.get(cas) ?? new Map<string, Set<Upload>>()
    this.#byStore.set(cas, blobs)
    const uploads = blobs.get(key) ?? new Set<Upload>()
    blobs.set(key, uploads)
    return uploads
  }
}

interface Parked {
  readonly reservation: Reservation
  readonly untilMs: number
}

const SWEEP_MS = 1000
