import type { Clock } from '../../base/clock.js'
import { StatusError } from '../../base/status-error.js'
import { guardedImmediate } from '../../base/timers.js'
import type { Ledger } from '../../ledger/ledger.js'
import type { Log } from '../../log/log.js'
import type { LoggedLine } from '../../log/sendable.js'
import type { Metrics } from '../../metrics/metrics.js'
import { addChanges } from '../../metrics/relayed.js'
import { internalCall, shareable } from '../../rpc/call.js'
import type { Invocations } from '../../rpc/invocations.js'
import { addPacked } from '../../rpc/packed-records.js'
import type { RequestRecords } from '../../rpc/request-records.js'
import type { Security } from '../../security/security.js'
import type { PostsTo } from '../../server/threads/service-threads.js'
import { KeptParts } from '../../service/bytestream/kept-parts.js'
import type { SharedStore } from '../../store/contract/kind.js'
import type { Claimant } from '../../store/index/promises.js'
import {
  type Answer,
  type CommitQuestion,
  digestOf,
  type Failure,
  type FromServingThread,
  type Question,
  type RefusedBlob,
  type ReportMessage,
  type ToServingThread,
} from './thread-calls.js'

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
  /** Answers of this turn. */
  readonly #answers = new Map<PostsTo, Answer[]>()

  /** `stores` by path. */
  constructor(stores: ReadonlyMap<string, SharedStore>, parts: HearingParts) {
    this.#stores = stores
    this.#parts = parts
    this.#kept = new KeptParts(parts.clock, parts.ledger)
  }

  receive(message: FromServingThread | LoggedLine, thread: PostsTo): void {
    const { log, metrics, invocations } = this.#parts
    if (message.kind === 'log') log[message.level](message.message, message.fields)
    else if (message.kind === 'report') this.#report(message, thread)
    else {
      if (message.changes !== undefined && metrics !== undefined) addChanges(metrics, message.changes)
      if (invocations !== undefined) invocations.extensionCount += message.extensionCount
    }
  }

  /** Deletes what is kept of interrupted uploads. */
  close(): Promise<void> {
    return this.#kept.close()
  }

  #report({ uses, claims, touched, counted, records, audited, questions }: ReportMessage, thread: PostsTo): void {
    const { invocations, records: kept, security } = this.#parts
    for (const entry of audited) security?.audited(entry)
    for (const [path, slots] of uses) this.#stores.get(path)?.used(slots)
    const numbers = touched.flatMap((id) => {
      const number = invocations?.touch(id)?.number
      return number === undefined ? [] : [[id, number] as const]
    })
    for (const [id, counts] of counted) invocations?.add(id, counts)
    if (numbers.length > 0) post(thread, { kind: 'numbers', numbers })
    for (const [path, id, keepForMs, slots] of claims) {
      const invocation = id === '' ? undefined : invocations?.touch(id)
      this.#stores.get(path)?.hold(slots, { invocation, keepForMs })
    }
    if (records !== undefined && kept !== undefined) addPacked(kept, records)
    for (const [id, question] of questions) void this.#answer(id, question, thread)
  }

  async #answer(id: number, question: Question, thread: PostsTo): Promise<void> {
    let answer: Answer
    try {
      answer = { id, value: await this.#do(question) }
    } catch (error) {
      answer = { id, failure: failureOf(error) }
    }
    const waiting = this.#answers.get(thread)
    if (waiting !== undefined) {
      waiting.push(answer)
      return
    }
    const answers = [answer]
    this.#answers.set(thread, answers)
    guardedImmediate(() => {
      this.#answers.delete(thread)
      post(thread, { kind: 'answers', answers })
    })
  }

  async #do(question: Question): Promise<unknown> {
    if (question.about === 'keep_part') return this.#kept.keep(question.part)
    if (question.about === 'size_of_part') return this.#kept.sizeOf(question.name)
    if (question.about === 'take_part') return this.#kept.take(question.name)
    const store = this.#stores.get(question.path)
    if (store === undefined) throw new Error(`a thread uses the store ${question.path}, which it does not have`)
    if (question.about === 'commit_small') {
      const refused = await store.commitSmall(question.packed, this.#claimantOf(question))
      if (refused.length === 0) return undefined
      return refused.map(({ at, error }): RefusedBlob => ({ at, failure: failureOf(error) }))
    }
    const digest = digestOf(question.digest)
    if (question.about === 'damaged') return store.damaged(digest, question.slot, question.location, question.why)
    const { log } = this.#parts
    return store.commit(digest, question.file, internalCall({ signal: NEVER, log, ...this.#claimantOf(question) }))
  }

  #claimantOf({ invocation, keepForMs }: Pick<CommitQuestion, 'invocation' | 'keepForMs'>): Claimant {
    return { invocation: invocation === undefined ? undefined : this.#parts.invocations?.touch(invocation), keepForMs }
  }
}

const failureOf = (error: unknown): Failure => {
  const { code, message, details } = StatusError.from(error)
  return { code, message, details }
}

/** A commit goes on if its client leaves. One signal for all, because making one takes 2 us. */
const NEVER = new AbortController().signal
shareable(NEVER)

const post = (thread: PostsTo, message: ToServingThread): void => thread.post(message)
