import { StatusError } from '../../base/status-error.js'
import { guardedTimeout } from '../../base/timers.js'
import type { Digest } from '../../reapi/digest.js'
import type { Call } from '../../rpc/call.js'
import { RecordPacker } from '../../rpc/packed-records.js'
import { type ActionOutcome, OUTCOMES } from '../../rpc/request-records.js'
import type { ThreadChannel } from '../../server/threads/channel.js'
import { errorOf } from '../../server/threads/failure.js'
import type { AskedParts } from '../../service/bytestream/thread-uploads.js'
import type { Claimant } from '../../store/index/promises.js'
import type { Written } from '../../store/kinds/filesystem/files/file-writer.js'
import { draftsOf, type SmallBlob } from '../../store/kinds/filesystem/records/drafts.js'
import type { ToOwnerOfStore } from '../../store/kinds/filesystem/thread-store.js'
import { type SentClaimant, type ServingToOwner, sentDigest } from './thread-calls.js'

const NUMBERS_MAX = 10_000
/** Nobody waits for records of requests, so they are sent with the next message that somebody waits for, or this late. */
const RECORDS_WAIT_MS = 20
const RECORDS_AT_ONCE = 256

/** What waits for the end of the turn, of one store and with the same claims. */
interface Group {
  readonly path: string
  readonly claimant: SentClaimant
  /** Slots that are claimed. */
  readonly slots: Set<number>
  readonly small: SmallBlob[]
  /** Told what became of each small blob. */
  readonly settle: ((failure: StatusError | undefined) => void)[]
}

/** Collects what a service thread tells the owner once a turn of the event loop, in place of once for each call. */
export class ToOwner {
  /** The `KeptParts` of the process. */
  readonly parts: AskedParts = {
    keep: (part) => this.#channel.ask('keepPart', part),
    sizeOf: (name) => this.#channel.ask('sizeOfPart', name),
    take: (name) => this.#channel.ask('takePart', name),
  }
  readonly #channel: ThreadChannel<ServingToOwner>
  /** The slots that were used since the last call, of a store. */
  readonly #takeUsed: (path: string) => Int32Array | undefined
  readonly #numbers = new Map<string, number>()
  readonly #uses = new Set<string>()
  readonly #groups = new Map<string, Group>()
  readonly #records = new RecordPacker()
  readonly #counted = new Map<string, number[]>()
  #recordsWait: NodeJS.Timeout | undefined

  constructor(channel: ThreadChannel<ServingToOwner>, takeUsed: (path: string) => Int32Array | undefined) {
    this.#channel = channel
    this.#takeUsed = takeUsed
    channel.beforeFlush = () => this.#tell()
  }

  /** What the store at `path` needs. */
  ofStore(path: string): ToOwnerOfStore {
    return {
      usesWait: () => {
        this.#uses.add(path)
        this.#channel.schedule()
      },
      numberOf: (invocation) => this.#numbers.get(invocation),
      claim: (slot, claimant) => void this.#groupOf(path, claimant).slots.add(slot),
      commit: (digest, written, call) => this.#commit(path, digest, written, call),
      damaged: (digest, ...found) => this.#channel.ask('damaged', path, sentDigest(digest), ...found),
    }
  }

  record(...record: Parameters<RecordPacker['add']>): void {
    this.#records.add(...record)
    if (this.#records.count >= RECORDS_AT_ONCE) this.#channel.schedule()
    else this.#recordsWait ??= guardedTimeout(() => this.#channel.flush(), RECORDS_WAIT_MS).unref()
  }

  /** A request about an action of a build. Told with its record. */
  counted(id: string, outcome: ActionOutcome['outcome']): void {
    const counts = this.#counted.get(id) ?? OUTCOMES.map(() => 0)
    const at = OUTCOMES.indexOf(outcome)
    counts[at] = (counts[at] ?? 0) + 1
    this.#counted.set(id, counts)
  }

  /** The number by which the owner knows a build. */
  numbered(id: string, number: number): void {
    if (this.#numbers.size > NUMBERS_MAX) this.#numbers.clear()
    this.#numbers.set(id, number)
  }

  async #commit(path: string, digest: Digest, written: Written, call: Call): Promise<void> {
    const { held } = call
    if (!Buffer.isBuffer(written)) {
      await this.#channel.ask('commit', path, sentDigest(digest), written, sentClaimant(call))
      return
    }
    // The bytes of a small blob are sent as a copy, beside the message of the client that they came in.
    const sizeBytes = written.length
    const copied = sizeBytes === 0 ? undefined : held?.ledger.kinds.requests.reserveOrThrow(held.holder, sizeBytes)
    const { small, settle } = this.#groupOf(path, call)
    small.push({ digest, bytes: written })
    return new Promise((resolve, reject) => {
      settle.push((failure) => {
        copied?.release()
        if (failure === undefined) resolve()
        else reject(failure)
      })
    })
  }

  #groupOf(path: string, claiming: Claimant): Group {
    const claimant = sentClaimant(claiming)
    const key = `${path} ${claimant.keepForMs} ${claimant.invocation}`
    const known = this.#groups.get(key)
    if (known !== undefined) return known
    const group: Group = { path, claimant, slots: new Set(), small: [], settle: [] }
    this.#groups.set(key, group)
    this.#channel.schedule()
    return group
  }

  #tell(): void {
    const channel = this.#channel
    clearTimeout(this.#recordsWait)
    this.#recordsWait = undefined
    for (const path of this.#uses) {
      const slots = this.#takeUsed(path)
      if (slots !== undefined) channel.send('used', path, slots)
    }
    this.#uses.clear()
    for (const [id, counts] of this.#counted) channel.send('counted', id, counts)
    this.#counted.clear()
    const records = this.#records.take()
    if (records !== undefined) channel.send('records', records)
    for (const { path, claimant, slots } of this.#groups.values())
      if (slots.size > 0) channel.send('claimed', path, claimant, Int32Array.from(slots))
    for (const group of this.#groups.values()) if (group.small.length > 0) void this.#commitSmall(group)
    this.#groups.clear()
  }

  async #commitSmall({ path, claimant, small, settle }: Group): Promise<void> {
    try {
      const packed = draftsOf(small)
      this.#channel.give(packed.buffer)
      const refused = await this.#channel.ask('commitSmall', path, packed, claimant)
      const failures = new Map(refused.map(({ at, failure }) => [at, errorOf(failure)]))
      for (const [at, settled] of settle.entries()) settled(failures.get(at))
    } catch (error) {
      for (const settled of settle) settled(StatusError.from(error))
    }
  }
}

const sentClaimant = ({ invocation, keepForMs }: Claimant): SentClaimant => ({ invocation: invocation?.id, keepForMs })
