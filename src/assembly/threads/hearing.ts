import type { Clock } from '../../base/clock.js'
import type { Ledger } from '../../ledger/ledger.js'
import type { Log } from '../../log/log.js'
import type { Metrics } from '../../metrics/metrics.js'
import { addChanges } from '../../metrics/relayed.js'
import { internalCall, shareable } from '../../rpc/call.js'
import type { Invocations } from '../../rpc/invocations.js'
import { addPacked } from '../../rpc/packed-records.js'
import type { RequestRecords } from '../../rpc/request-records.js'
import type { Security } from '../../security/security.js'
import type { ThreadChannel } from '../../server/threads/channel.js'
import { failureOf } from '../../server/threads/failure.js'
import { KeptParts } from '../../service/bytestream/kept-parts.js'
import type { SharedStore } from '../../store/contract/kind.js'
import type { Claimant } from '../../store/index/promises.js'
import { digestOf, type SentClaimant, type ServingToOwner, type ServingToThread } from './thread-calls.js'

export interface HearingParts {
  readonly ledger: Ledger
  readonly clock: Clock
  readonly log: Log
  readonly metrics?: Metrics | undefined
  readonly invocations?: Invocations
  readonly records?: RequestRecords
  readonly security?: Pick<Security, 'audited'> | undefined
}

/** The owner's side of what service threads tell and ask. */
export class Hearing {
  readonly #stores: ReadonlyMap<string, SharedStore>
  readonly #parts: HearingParts
  readonly #kept: KeptParts

  /** `stores` by path. */
  constructor(stores: ReadonlyMap<string, SharedStore>, parts: HearingParts) {
    this.#stores = stores
    this.#parts = parts
    this.#kept = new KeptParts(parts.clock, parts.ledger)
  }

  /** What is heard of a thread. */
  of(thread: ThreadChannel<Pick<ServingToThread, 'numbered'>>): ServingToOwner {
    const { log, metrics, invocations, records, security } = this.#parts
    return {
      log: (level, message, fields) => log[level](message, fields),
      metrics: (changes, extensionCount) => {
        if (changes !== undefined && metrics !== undefined) addChanges(metrics, changes)
        if (invocations !== undefined) invocations.extensionCount += extensionCount
      },
      audited: (entry) => security?.audited(entry),
      touched: (id) => {
        const number = invocations?.touch(id)?.number
        if (number !== undefined) thread.send('numbered', id, number)
      },
      counted: (id, counts) => invocations?.add(id, counts),
      records: (packed) => {
        if (records !== undefined) addPacked(records, packed)
      },
      used: (path, slots) => this.#stores.get(path)?.used(slots),
      claimed: (path, claimant, slots) => this.#stores.get(path)?.hold(slots, this.#claimantOf(claimant)),
      commit: (path, digest, file, claimant) => {
        const call = internalCall({ signal: NEVER, log, ...this.#claimantOf(claimant) })
        return this.#store(path).commit(digestOf(digest), file, call)
      },
      commitSmall: async (path, packed, claimant) => {
        const refused = await this.#store(path).commitSmall(packed, this.#claimantOf(claimant))
        return refused.map(({ at, error }) => ({ at, failure: failureOf(error) }))
      },
      damaged: (path, digest, slot, location, why) => this.#store(path).damaged(digestOf(digest), slot, location, why),
      keepPart: async (part) => this.#kept.keep(part),
      sizeOfPart: async (name) => this.#kept.sizeOf(name),
      takePart: async (name) => this.#kept.take(name),
    }
  }

  /** Deletes what is kept of interrupted uploads. */
  close(): Promise<void> {
    return this.#kept.close()
  }

  #store(path: string): SharedStore {
    const store = this.#stores.get(path)
    if (store === undefined) throw new Error(`a thread uses the store ${path}, which it does not have`)
    return store
  }

  #claimantOf({ invocation, keepForMs }: SentClaimant): Claimant {
    return { invocation: invocation === undefined ? undefined : this.#parts.invocations?.touch(invocation), keepForMs }
  }
}

/** A commit goes on if its client leaves. One signal for all, because making one takes 2 us. */
const NEVER = new AbortController().signal
shareable(NEVER)
