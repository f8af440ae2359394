import type { Clock } from '../base/clock.js'
import { StatusError } from '../base/status-error.js'
import type { Ledger } from '../ledger/ledger.js'
import type { Log } from '../log/log.js'
import type { LoggedLine } from '../log/sendable.js'
import type { Metrics } from '../metrics/metrics.js'
import { addChanges } from '../metrics/relayed.js'
import { internalCall, shareable } from '../rpc/call.js'
import type { Invocations } from '../rpc/invocations.js'
import { addPacked } from '../rpc/packed-records.js'
import type { RequestRecords } from '../rpc/request-records.js'
import type { Security } from '../security/security.js'
import type { PostsTo } from '../server/carry/service-threads.js'
import { KeptParts } from '../service/bytestream/kept-parts.js'
import type { SharedStore } from '../store/contract/kind.js'
import {
  type Answer,
  digestOf,
  type FromServingThread,
  type Question,
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

  #report({ uses, claims, touched, records, audited, questions, bytes }: ReportMessage, thread: PostsTo): void {
    const { invocations, records: kept, security } = this.#parts
    for (const entry of audited) security?.audited(entry)
    for (const [path, slots] of uses) this.#stores.get(path)?.used(slots)
    const numbers = touched.flatMap((id) => {
      const number = invocations?.touch(id)?.number
      return number === undefined ? [] : [[id, number] as const]
    })
    if (numbers.length > 0) post(thread, { kind: 'numbers', numbers })
    for (const [path, id, keepForMs, slots] of claims) {
      const invocation = id === '' ? undefined : invocations?.touch(id)
      this.#stores.get(path)?.hold(slots, { invocation, keepForMs })
    }
    if (records !== undefined && kept !== undefined) addPacked(kept, records)
    const all = Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength)
    for (const [id, question] of questions) void this.#answer(id, question, all, thread)
  }

  async #answer(id: number, question: Question, bytes: Buffer, thread: PostsTo): Promise<void> {
    let answer: Answer
    try {
      answer = { id, value: await this.#do(question, bytes) }
    } catch (error) {
      const { code, message, details } = StatusError.from(error)
      answer = { id, failure: { code, message, details } }
    }
    const waiting = this.#answers.get(thread)
    if (waiting !== undefined) {
      waiting.push(answer)
      return
    }
    const answers = [answer]
    this.#answers.set(thread, answers)
    setImmediate(() => {
      this.#answers.delete(thread)
      post(thread, { kind: 'answers', answers })
    })
  }

  async #do(question: Question, bytes: Buffer): Promise<unknown> {
    if (question.about === 'keep_part') return this.#kept.keep(question.part)
    if (question.about === 'size_of_part') return this.#kept.sizeOf(question.name)
    if (question.about === 'take_part') return this.#kept.take(question.name)
    const store = this.#stores.get(question.path)
    if (store === undefined) throw new Error(`a thread uses the store ${question.path}, which it does not have`)
    const digest = digestOf(question.digest)
    if (question.about === 'damaged') return store.damaged(digest, question.slot, question.location, question.why)
    const { written, invocation: build, keepForMs } = question
    const { log, invocations } = this.#parts
    const invocation = build === undefined ? undefined : invocations?.touch(build)
    const content = 'path' in written ? written : bytes.subarray(written.offset, written.offset + written.length)
    return store.commit(digest, content, internalCall({ signal: NEVER, log, keepForMs, invocation }))
  }
}

/** A commit goes on if its client leaves. One signal for all, because making one takes 2 us. */
const NEVER = new AbortController().signal
shareable(NEVER)

const post = (thread: PostsTo, message: ToServingThread): void => thread.post(message)
