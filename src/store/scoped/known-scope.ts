import { randomBytes } from 'node:crypto'
import type { Clock } from '../../base/clock.js'
import { isStatus } from '../../base/status-error.js'
import { getBytes, putBytes, removeIfPossible, type Store } from '../../blobs/store.js'
import { decodeRecord, encodeRecord } from '../../content/own-record.js'
import type { Log } from '../../log/log.js'
import { codec } from '../../proto/codec.js'
import { Digest } from '../../reapi/digest.js'
import { internalCall } from '../../rpc/call.js'
import type { Scope } from '../../rpc/scope.js'
import { inBackground } from '../../work/in-background.js'
import { noReads, type ScopeLayer } from './scope-reads.js'

const stateCodec = codec('remexec.record.v1.ScopeState')

export interface ScopeLimits {
  /** Of the results and entries of one scope, and of the files that they name. */
  readonly maxBytes: number
  /** A scope that nobody used for so long begins anew. */
  readonly maxIdleMs: number
}

export interface ScopeParts {
  readonly scope: Scope
  /** The instance in whose name the store is asked. */
  readonly instanceName: string
  /** An action cache as its instance sees it. */
  readonly store: Store
  readonly limits: ScopeLimits
  readonly clock: Clock
  readonly log: Log
}

/** Another server may have dropped the scope or begun it anew: its state is read again after this time. */
const FRESH_MS = 2_000
/** An older state is not used before it was read again. */
const STALE_MS = 5_000
const USED_EVERY_MS = 3_600_000
const MAX_STATE_BYTES = 4096
const GENERATION_BYTES = 16
/** Bound on the memory for one scope: some 200 bytes each. */
const MAX_ENTRIES = 50_000

/** The key of the state of a scope. */
const stateKey = ({ name }: Scope): Digest => Digest.ofOwn('SCOPE', JSON.stringify(['state', name]))

/**
 * A scope in one action cache. Its generation is part of the keys of all that it keeps, and lies in the action cache itself,
 * so that servers that share the store agree on it: with another generation the scope is empty, and what it kept leaves the
 * store as the least recently used. A state that was evicted is such a case; nothing that was dropped ever comes back.
 */
export class KnownScope {
  readonly #parts: ScopeParts
  readonly #key: Digest
  #generation: string | undefined
  #usedMs = 0
  #readMs = Number.NEGATIVE_INFINITY
  #reading: Promise<void> | undefined
  /** By their keys, the least recently used first. */
  readonly #entries = new Map<string, { readonly key: Digest; readonly sizeBytes: number }>()
  #bytes = 0
  /** Of entries from before the start, which are not known one by one. */
  #carriedBytes = 0
  #toldBytes = 0
  #beginning: Promise<string> | undefined
  readonly #reads = noReads()
  #lastReadMs = 0

  constructor(parts: ScopeParts) {
    this.#parts = parts
    this.#key = stateKey(parts.scope)
  }

  get usage() {
    const { scope, instanceName } = this.#parts
    const sizeBytes = this.#bytes + this.#carriedBytes
    const kept = { sizeBytes, entryCount: this.#entries.size, usedMs: Math.max(this.#usedMs, this.#lastReadMs) }
    return { scope: scope.name, instanceName, ...kept, reads: this.#reads }
  }

  /** A caller of the scope has found something there. */
  noteRead(layer: ScopeLayer): void {
    this.#reads[layer] += 1
    this.#lastReadMs = this.#parts.clock.now()
  }

  /** Undefined if the scope keeps nothing. */
  generation(): string | undefined | Promise<string | undefined> {
    const ageMs = this.#parts.clock.now() - this.#readMs
    if (ageMs > STALE_MS) return this.#read().then(() => this.#generation)
    if (ageMs > FRESH_MS) inBackground(this.#read(), this.#parts.log, 'reading the state of a scope')
    return this.#generation
  }

  /** The generation to write with. */
  async begun(): Promise<string> {
    const generation = await this.generation()
    if (generation !== undefined) return generation
    this.#beginning ??= this.renew().finally(() => {
      this.#beginning = undefined
    })
    return this.#beginning
  }

  /** Begins anew: what the scope kept is gone for everybody. */
  async renew(): Promise<string> {
    const { clock } = this.#parts
    const generation = randomBytes(GENERATION_BYTES).toString('hex')
    const before = [...this.#entries.values()]
    this.#entries.clear()
    this.#bytes = 0
    this.#carriedBytes = 0
    await this.#tell(generation, clock.now())
    this.#generation = generation
    this.#readMs = clock.now()
    inBackground(this.#remove(before.map(({ key }) => key)), this.#parts.log, 'removing what a scope kept')
    return generation
  }

  used(key: Digest, sizeBytes: number): void {
    const known = this.#entries.get(key.key)
    if (known === undefined) this.#carriedBytes = Math.max(0, this.#carriedBytes - sizeBytes)
    this.#note(key, sizeBytes)
  }

  /** Removes the least recently used entries if there are too many now. */
  async wrote(key: Digest, sizeBytes: number): Promise<void> {
    this.#note(key, sizeBytes)
    const { maxBytes } = this.#parts.limits
    const victims: Digest[] = []
    for (const [name, oldest] of this.#entries) {
      if (this.#bytes + this.#carriedBytes <= maxBytes && this.#entries.size <= MAX_ENTRIES) break
      this.#entries.delete(name)
      this.#bytes -= oldest.sizeBytes
      victims.push(oldest.key)
    }
    if (victims.length > 0) await this.#remove(victims)
    if (this.#carriedBytes > maxBytes) await this.renew()
    else if (Math.abs(this.#bytes + this.#carriedBytes - this.#toldBytes) > maxBytes / 16) await this.#tellAgain()
  }

  removed(key: Digest): void {
    const known = this.#entries.get(key.key)
    this.#entries.delete(key.key)
    this.#bytes -= known?.sizeBytes ?? 0
  }

  #note(key: Digest, sizeBytes: number): void {
    this.removed(key)
    this.#entries.set(key.key, { key, sizeBytes })
    this.#bytes += sizeBytes
  }

  async #remove(keys: readonly Digest[]): Promise<void> {
    const { store, instanceName, log } = this.#parts
    const call = internalCall({ instanceName, log })
    for (const key of keys) await removeIfPossible(store, key, 'unwanted', call)
  }

  #read(): Promise<void> {
    this.#reading ??= this.#readNow().finally(() => {
      this.#reading = undefined
    })
    return this.#reading
  }

  async #readNow(): Promise<void> {
    const { store, instanceName, limits, clock, log } = this.#parts
    const call = internalCall({ instanceName, log })
    const nowMs = clock.now()
    const state = await getBytes(store, this.#key, MAX_STATE_BYTES, call).then(
      (bytes) => stateCodec.decode(decodeRecord(this.#key, bytes).content),
      (error: unknown) => {
        if (isStatus(error, 'NOT_FOUND') || isStatus(error, 'INVALID_ARGUMENT')) return undefined
        throw error
      },
    )
    const isThere = state !== undefined && state.usedMs + limits.maxIdleMs > nowMs
    const generation = isThere ? state.generation.toString('hex') : undefined
    if (generation !== this.#generation) {
      this.#entries.clear()
      this.#bytes = 0
      this.#carriedBytes = isThere ? state.sizeBytes : 0
      this.#toldBytes = this.#carriedBytes
    }
    this.#generation = generation
    this.#readMs = nowMs
    this.#usedMs = isThere ? state.usedMs : 0
    if (generation !== undefined && nowMs - this.#usedMs > Math.min(USED_EVERY_MS, limits.maxIdleMs / 10))
      await this.#tellAgain()
  }

  async #tellAgain(): Promise<void> {
    if (this.#generation !== undefined) await this.#tell(this.#generation, this.#parts.clock.now())
  }

  async #tell(generation: string, usedMs: number): Promise<void> {
    const { store, instanceName, log } = this.#parts
    const sizeBytes = this.#bytes + this.#carriedBytes
    const content = stateCodec.encode({ generation: Buffer.from(generation, 'hex'), usedMs, sizeBytes })
    await putBytes(store, this.#key, encodeRecord(this.#key, { content }), internalCall({ instanceName, log }))
    this.#usedMs = usedMs
    this.#toldBytes = sizeBytes
  }
}
