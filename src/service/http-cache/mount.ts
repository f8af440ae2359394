import { isStatus, StatusError } from '../../base/status-error.js'
import type { KeptSizes } from '../../blobs/meter.js'
import { HttpError, textAnswer } from '../../http/answer.js'
import type { HttpAnswer, HttpRequest } from '../../http/request.js'
import type { Permission } from '../../rpc/gate.js'
import { Scope } from '../../rpc/scope.js'
import { type CacheStores, Entries, type Entry, isFault } from './entries.js'
import type { KeptFields } from './kept-fields.js'
import type { CacheMeter } from './meter.js'

/** The policy of an HTTP cache, from the configuration. */
export interface CacheOptions {
  /** Where it begins; also its name. */
  readonly path: string
  readonly kind: string
  readonly instance_name: string
  /** Callers that may write there and not to `instance_name` are in a scope of this name. */
  readonly overlay_instance_name?: string | undefined
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
  /** The stores of another instance of the server; undefined if it has none. */
  readonly storesOf: (instanceName: string) => CacheStores | undefined
  readonly meter: CacheMeter
}

export type Outcome = 'stored' | 'kept'

/** What a download or an upload is answered with, and the bytes to count. */
export interface Done {
  readonly answer: HttpAnswer
  readonly sizeBytes: number
}

export interface Upload {
  /** What a download gets back in headers. */
  readonly fields?: KeptFields
  /** The SHA-256 that the body must have. */
  readonly hash?: string
}

/** One HTTP cache of the configuration: its entries, its policy, and who may use it. */
export class Mount {
  readonly options: CacheOptions
  readonly #parts: MountParts
  readonly #entriesIn = new WeakMap<CacheStores, Entries>()
  readonly #layers = new WeakMap<CacheStores, readonly CacheStores[]>()
  readonly #meter: CacheMeter
  readonly #maxBytes: number

  constructor(parts: MountParts) {
    const { options, meter } = parts
    this.#parts = parts
    this.options = options
    this.#meter = meter
    this.#maxBytes = options.max_size ?? Number.POSITIVE_INFINITY
  }

  /** The entry under `key`, a key of the client with the parts that its kind adds; undefined for a miss. */
  async get(request: HttpRequest, ...key: readonly string[]): Promise<Entry | undefined> {
    const layers = this.storesToRead(request, READ)
    let why: string = 'absent'
    try {
      for (const stores of layers) {
        const found = await this.#in(stores).get(this.#keyOf(key), request)
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
    const entries = this.#in(this.storesToWrite(request, WRITE))
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
      const { fields, hash } = upload
      const sizeBytes = await entries.put(named, { body, fields, hash, maxBytes: this.#maxBytes, visitor }, request)
      request.note({ ...about, result: 'stored' })
      this.#meter.stored(sizeBytes)
      return 'stored'
    } catch (thrown) {
      throw this.#refusal(thrown, request)
    }
  }

  async remove(request: HttpRequest, ...key: readonly string[]): Promise<void> {
    await this.#in(this.storesToWrite(request, WRITE)).remove(this.#keyOf(key), request)
    request.note({ cache: this.options.kind, result: 'removed' })
  }

  /** What the stores of the cache keep. */
  kept(): KeptSizes | undefined {
    return this.#parts.stores.kept()
  }

  /** Throws the error of the first permission that the caller lacks. */
  demandRead(request: HttpRequest): void {
    this.storesToRead(request, READ)
  }

  demandWrite(request: HttpRequest): void {
    this.storesToWrite(request, WRITE)
  }

  #keyOf(key: readonly string[]): readonly string[] {
    return [this.options.path, ...key]
  }

  /** The stores that a caller reads, in order: those of its scope first. Throws if it may not. */
  storesToRead(
    request: HttpRequest,
    permissions: readonly Permission[],
    instanceName = this.options.instance_name,
  ): readonly CacheStores[] {
    demand(request, permissions, instanceName)
    const stores = this.#storesOf(instanceName)
    const scope = this.#scopeOf(request, instanceName)
    return scope === undefined ? this.#layersOf(stores) : [stores.of(scope), ...this.#layersOf(stores)]
  }

  #layersOf(stores: CacheStores): readonly CacheStores[] {
    const known = this.#layers.get(stores)
    if (known !== undefined) return known
    const layers = [stores, ...stores.parents]
    this.#layers.set(stores, layers)
    return layers
  }

  /** The stores that a caller writes to. Throws if it may not. */
  storesToWrite(
    request: HttpRequest,
    permissions: readonly Permission[],
    instanceName = this.options.instance_name,
  ): CacheStores {
    const isByOverlay = this.#isByOverlay(request, instanceName)
    demand(request, permissions, (isByOverlay && this.options.overlay_instance_name) || instanceName)
    const stores = this.#storesOf(instanceName)
    if (this.options.read_only || stores.isReadOnly)
      throw new HttpError(403, `the cache at ${this.options.path} is read-only`)
    const scope = this.#scopeOf(request, instanceName)
    return scope === undefined ? stores : stores.of(scope)
  }

  /** The largest upload. */
  maxBytesOf({ cas, maxBlobBytes = Number.POSITIVE_INFINITY }: CacheStores): number {
    return Math.min(this.#maxBytes, maxBlobBytes, cas.properties.maxBlobBytes)
  }

  /** Counts a download. A store that fails is a miss or an error, as configured. */
  async found(request: HttpRequest, find: () => Promise<Done | undefined>): Promise<HttpAnswer> {
    const isCounted = request.method !== 'HEAD'
    let done: Done | undefined
    try {
      done = await find()
    } catch (thrown) {
      request.note({ miss: this.#faultOf(thrown, request) })
    }
    request.note({ cache: this.options.kind, result: done === undefined ? 'miss' : 'hit' })
    if (done === undefined) {
      if (isCounted) this.#meter.miss()
      return MISS()
    }
    if (isCounted) this.#meter.hit(done.sizeBytes)
    return done.answer
  }

  /** Counts an upload. */
  async storing(request: HttpRequest, store: () => Promise<Done>): Promise<HttpAnswer> {
    try {
      const { answer, sizeBytes } = await store()
      request.note({ cache: this.options.kind, result: 'stored' })
      this.#meter.stored(sizeBytes)
      return answer
    } catch (thrown) {
      throw this.#refusal(thrown, request)
    }
  }

  #refusal(thrown: unknown, request: HttpRequest): StatusError {
    const error = StatusError.from(thrown)
    request.note({ cache: this.options.kind, result: 'refused' })
    this.#meter.refused()
    // Not the rate of this caller: the store has no room.
    const isFull = isStatus(error, 'RESOURCE_EXHAUSTED') && !(error instanceof HttpError)
    return isFull ? new HttpError(507, error.message) : error
  }

  #storesOf(instanceName: string): CacheStores {
    const { stores, storesOf } = this.#parts
    if (instanceName === stores.instanceName) return stores
    const others = storesOf(instanceName)
    if (others !== undefined) return others
    throw new HttpError(400, `instance ${JSON.stringify(instanceName)} is not served here`)
  }

  #in(stores: CacheStores): Entries {
    const known = this.#entriesIn.get(stores) ?? new Entries(stores)
    this.#entriesIn.set(stores, known)
    return known
  }

  /** The scope of a caller by the rules, or by `overlay_instance_name`. */
  #scopeOf(request: HttpRequest, instanceName: string): Scope | undefined {
    const byRules = request.visitor?.scopeIn(instanceName)
    if (byRules !== undefined || !this.#isByOverlay(request, instanceName)) return byRules
    return Scope.named(this.options.overlay_instance_name ?? '')
  }

  /** Whether the caller may write to the overlay and not to the mount's instance. */
  #isByOverlay({ visitor }: HttpRequest, instanceName: string): boolean {
    const { overlay_instance_name: overlay } = this.options
    if (visitor === undefined || overlay === undefined || instanceName !== this.options.instance_name) return false
    const mayWrite = (instance: string): boolean => WRITE.every((permission) => visitor.may(permission, instance))
    return mayWrite(overlay) && !mayWrite(instanceName)
  }

  /** With `on_fault: miss`, what a client gets of a store that fails; else throws. */
  #faultOf(thrown: unknown, request: HttpRequest): string {
    const error = StatusError.from(thrown)
    if (this.options.on_fault !== 'miss' || !isFault(error)) throw error
    request.log.warn('an HTTP cache answers with a miss, because its store failed', { cache: this.options.path, error })
    return 'fault'
  }
}

/** The answer for what is not there. */
export const MISS = (): HttpAnswer => textAnswer(404, 'not found\n')

const READ: readonly Permission[] = ['read_ac', 'read_cas']
const WRITE: readonly Permission[] = ['write_ac', 'write_cas']

const demand = (request: HttpRequest, permissions: readonly Permission[], instance: string): void => {
  for (const permission of permissions) request.visitor?.demand(permission, instance, request, request.peer)
}
