import type { Clock } from '../../base/clock.js'
import { isStatus, StatusError } from '../../base/status-error.js'
import { ForwardingStore } from '../../blobs/forwarding.js'
import { getBytes, putBytes, removeIfPossible, type Store } from '../../blobs/store.js'
import { decodeRecord, encodeRecord } from '../../content/own-record.js'
import type { Log } from '../../log/log.js'
import { codec } from '../../proto/codec.js'
import { toMs } from '../../proto/time.js'
import { Digest } from '../../reapi/digest.js'
import { originOf } from '../../reapi/result-origin.js'
import { type Call, internalCall } from '../../rpc/call.js'
import { Blob } from '../../stream/blob/blob.js'
import { type Range, WHOLE } from '../../stream/path.js'
import { inBackground } from '../../work/in-background.js'

const revokedCodec = codec('remexec.record.v1.RevokedWriters')
const resultCodec = codec('build.bazel.remote.execution.v2.ActionResult')
const entryCodec = codec('remexec.http.v1.EntryDetails')
const assetCodec = codec('remexec.asset.v1.Asset')

const KEY = Digest.ofOwn('SCOPE', JSON.stringify(['revoked writers']))
const MAX_BYTES = 1024 * 1024
const MAX_WRITERS = 1000
const MAX_RECORD_BYTES = 64 * 1024 * 1024
const FRESH_MS = 2_000
/** Written again, so that it never is among the least recently used. */
const WRITTEN_EVERY_MS = 3_600_000

/** Who wrote something, and when. */
interface Writer {
  readonly identity: string
  readonly storedMs: number
}

/**
 * Callers whose results and entries of before a point in time are no hits in an action cache. The list lies in the action cache, so
 * that servers that share it agree, and in memory.
 */
export class RevokedWriters {
  readonly #store: Store
  readonly #clock: Clock
  readonly #log: Log
  readonly #untilMs = new Map<string, number>()
  #readMs = Number.NEGATIVE_INFINITY
  #writtenMs = 0
  #reading: Promise<void> | undefined

  constructor(store: Store, { clock, log }: { readonly clock: Clock; readonly log: Log }) {
    this.#store = store
    this.#clock = clock
    this.#log = log
  }

  /** Resolves when the list is known. Undefined if it is. */
  known(call: Call): Promise<void> | undefined {
    const ageMs = this.#clock.now() - this.#readMs
    if (ageMs <= FRESH_MS) return undefined
    const reading = this.#read(call.instanceName)
    if (ageMs === Number.POSITIVE_INFINITY) return reading
    inBackground(reading, this.#log, 'reading the list of revoked callers')
    return undefined
  }

  get isEmpty(): boolean {
    return this.#untilMs.size === 0
  }

  has({ identity, storedMs }: Writer): boolean {
    const untilMs = this.#untilMs.get(identity)
    return untilMs !== undefined && storedMs <= untilMs
  }

  /** All that the caller wrote until now is no hit any more. */
  async add(identity: string, instanceName = ''): Promise<void> {
    await this.#read(instanceName)
    this.#untilMs.delete(identity)
    // By the clock by which writers say when they stored something.
    this.#untilMs.set(identity, Date.now())
    const [oldest] = this.#untilMs.keys()
    if (this.#untilMs.size > MAX_WRITERS && oldest !== undefined) this.#untilMs.delete(oldest)
    await this.#write(instanceName)
  }

  #read(instanceName: string): Promise<void> {
    this.#reading ??= this.#readNow(instanceName).finally(() => {
      this.#reading = undefined
    })
    return this.#reading
  }

  async #readNow(instanceName: string): Promise<void> {
    const call = internalCall({ instanceName, log: this.#log })
    const nowMs = this.#clock.now()
    try {
      const { content } = decodeRecord(KEY, await getBytes(this.#store, KEY, MAX_BYTES, call))
      for (const { identity, untilMs } of revokedCodec.decode(content).writers)
        this.#untilMs.set(identity, Math.max(untilMs, this.#untilMs.get(identity) ?? 0))
    } catch (error) {
      // A store of results of another server that keeps no records has none.
      if (!isAbsent(error)) throw error
      this.#writtenMs = 0
    }
    this.#readMs = nowMs
    if (this.#untilMs.size > 0 && nowMs - this.#writtenMs > WRITTEN_EVERY_MS) await this.#write(instanceName)
  }

  async #write(instanceName: string): Promise<void> {
    const writers = [...this.#untilMs].map(([identity, untilMs]) => ({ identity, untilMs }))
    const record = encodeRecord(KEY, { content: revokedCodec.encode({ writers }) })
    await putBytes(this.#store, KEY, record, internalCall({ instanceName, log: this.#log }))
    this.#writtenMs = this.#clock.now()
  }
}

const isAbsent = (error: unknown): boolean =>
  ['NOT_FOUND', 'INVALID_ARGUMENT', 'FAILED_PRECONDITION'].some((code) => isStatus(error, code as 'NOT_FOUND'))

/** An action cache without what revoked callers wrote. */
export class ValidResults extends ForwardingStore {
  readonly #revoked: RevokedWriters

  constructor(backend: Store, revoked: RevokedWriters) {
    super(backend)
    this.#revoked = revoked
  }

  override async get(digest: Digest, range: Range, call: Call): Promise<Blob> {
    const reading = this.#revoked.known(call)
    if (reading !== undefined) await reading
    if (this.#revoked.isEmpty) return this.backend.get(digest, range, call)
    const bytes = await (await this.backend.get(digest, WHOLE, call)).bytes(MAX_RECORD_BYTES, call)
    const writer = writerOf(digest, bytes)
    if (writer === undefined || !this.#revoked.has(writer)) return Blob.ofPart(bytes, range, digest.key)
    await removeIfPossible(this.backend, digest, 'unwanted', call)
    throw new StatusError('NOT_FOUND', `what ${writer.identity} wrote under ${digest.key} was revoked`)
  }
}

/** Who wrote an entry; undefined for results of workers that confine their actions, and if it is not recorded. */
const writerOf = (key: Digest, bytes: Buffer): Writer | undefined => {
  if (!key.isOwn) {
    const { identity = '', workerId = '', isConfined, storedMs = 0 } = originOf(resultCodec.decode(bytes)) ?? {}
    return identity === '' || (workerId !== '' && isConfined === true) ? undefined : { identity, storedMs }
  }
  const { details } = decodeRecord(key, bytes)
  if (key.function.name === 'HTTP_ENTRY') return entryCodec.decode(details)
  if (key.function.name !== 'ASSET') return undefined
  const { identity, validAt } = assetCodec.decode(details)
  return { identity, storedMs: validAt === null ? 0 : toMs(validAt) }
}
