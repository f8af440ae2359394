import { isStatus, StatusError } from '../../base/status-error.js'
import { HttpError } from '../../http/answer.js'
import type { HttpRequest } from '../../http/request.js'
import type { Permission } from '../../rpc/gate.js'
import { type CacheStores, Entries, type Entry, isFault } from './entries.js'
import type { CacheMeter } from './meter.js'

/** The policy of an HTTP cache, from the configuration. */
export interface CacheOptions {
  /** Where it begins; also its name. */
  readonly path: string
  readonly kind: string
  /** The largest body. */
  readonly max_size?: number | undefined
  /** Which upload of a key stays. */
  readonly overwrite: 'last' | 'first'
  readonly read_only: boolean
  /** What a client gets if the store fails. */
  readonly on_fault: 'error' | 'miss'
}

export interface MountParts {
  readonly options: CacheOptions
  readonly stores: CacheStores
  /** Where callers write that may not write to `stores`. */
  readonly overlay: CacheStores | undefined
  readonly meter: CacheMeter
}

export type Outcome = 'stored' | 'kept'

export interface Upload {
  /** Headers that a download gets back. */
  readonly headers?: Readonly<Record<string, string>>
  /** The SHA-256 that the body must have. */
  readonly hash?: string
}

/** One HTTP cache of the configuration: its entries, its policy, and who may use it. */
export class Mount {
  readonly options: CacheOptions
  readonly #entries: Entries
  readonly #overlay: Entries | undefined
  readonly #meter: CacheMeter
  readonly #maxBytes: number

  constructor({ options, stores, overlay, meter }: MountParts) {
    this.options = options
    this.#entries = new Entries(stores)
    this.#overlay = overlay && new Entries(overlay)
    this.#meter = meter
    this.#maxBytes = options.max_size ?? Number.POSITIVE_INFINITY
  }

  /** The entry under `key`, a key of the client with the parts that its kind adds; undefined for a miss. */
  async get(request: HttpRequest, ...key: readonly string[]): Promise<Entry | undefined> {
    const layers = this.#layersToRead(request)
    let why: string = 'absent'
    try {
      for (const entries of layers) {
        const found = await entries.get(this.#keyOf(key), request)
        if (!('kind' in found)) {
          request.note({ cache: this.options.kind, result: 'hit' })
          if (request.method !== 'HEAD') this.#meter.hit(found.sizeBytes)
          return found
        }
        why = found.kind
      }
    } catch (thrown) {
      why = this.#faultOf(thrown, request)
    }
    request.note({ cache: this.options.kind, result: 'miss', miss: why })
    if (request.method !== 'HEAD') this.#meter.miss()
    return undefined
  }

  /** Stores the body under one or several keys. `kept`: the first has an entry already, and the policy keeps it. */
  async put(request: HttpRequest, upload: Upload, ...keys: readonly (readonly string[])[]): Promise<Outcome> {
    const entries = this.#layerToWrite(request)
    const { overwrite } = this.options
    const about = { cache: this.options.kind }
    try {
      const [first = []] = keys
      if (overwrite !== 'last' && (await entries.has(this.#keyOf(first), request))) {
        request.note({ ...about, result: 'kept' })
        this.#meter.kept()
        return 'kept'
      }
      const { visitor, body } = request
      const named = keys.map((key) => this.#keyOf(key))
      const digest = await entries.put(named, { ...upload, body, maxBytes: this.#maxBytes, visitor }, request)
      request.note({ ...about, result: 'stored' })
      this.#meter.stored(digest.sizeBytes)
      return 'stored'
    } catch (thrown) {
      const error = StatusError.from(thrown)
      request.note({ ...about, result: 'refused' })
      this.#meter.refused()
      // Not the rate of this caller: the store has no room.
      if (isStatus(error, 'RESOURCE_EXHAUSTED') && !(error instanceof HttpError))
        throw new HttpError(507, error.message)
      throw error
    }
  }

  async remove(request: HttpRequest, ...key: readonly string[]): Promise<void> {
    await this.#layerToWrite(request).remove(this.#keyOf(key), request)
    request.note({ cache: this.options.kind, result: 'removed' })
  }

  /** Throws the error of the first permission that the caller lacks. */
  demandRead(request: HttpRequest): void {
    this.#layersToRead(request)
  }

  demandWrite(request: HttpRequest): void {
    this.#layerToWrite(request)
  }

  #keyOf(key: readonly string[]): readonly string[] {
    return [this.options.path, ...key]
  }

  #layersToRead(request: HttpRequest): readonly Entries[] {
    demand(request, READ, this.#entries.instanceName)
    return this.#overlayOf(request) === undefined
      ? [this.#entries]
      : [this.#overlayOf(request) as Entries, this.#entries]
  }

  #layerToWrite(request: HttpRequest): Entries {
    const layer = this.#overlayOf(request) ?? this.#entries
    if (this.options.read_only || layer.isReadOnly)
      throw new HttpError(403, `the cache at ${this.options.path} is read-only`)
    demand(request, WRITE, layer.instanceName)
    return layer
  }

  /** The overlay, for callers that may write there and not to the shared instance. */
  #overlayOf({ visitor }: HttpRequest): Entries | undefined {
    const overlay = this.#overlay
    if (visitor === undefined || overlay === undefined) return undefined
    const mayWrite = (instance: string): boolean => WRITE.every((permission) => visitor.may(permission, instance))
    return mayWrite(overlay.instanceName) && !mayWrite(this.#entries.instanceName) ? overlay : undefined
  }

  /** With `on_fault: miss`, what a client gets of a store that fails; else throws. */
  #faultOf(thrown: unknown, request: HttpRequest): string {
    const error = StatusError.from(thrown)
    if (this.options.on_fault !== 'miss' || !isFault(error)) throw error
    request.log.warn('an HTTP cache answers with a miss, because its store failed', { cache: this.options.path, error })
    return 'fault'
  }
}

const READ: readonly Permission[] = ['read_ac', 'read_cas']
const WRITE: readonly Permission[] = ['write_ac', 'write_cas']

const demand = (request: HttpRequest, permissions: readonly Permission[], instance: string): void => {
  for (const permission of permissions) request.visitor?.demand(permission, instance, request, request.peer)
}
