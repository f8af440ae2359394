import type { MessagePort } from 'node:worker_threads'
import { StatusError } from '../../base/status-error.js'
import { guardedImmediate } from '../../base/timers.js'
import { errorOf, type Failure, failureOf } from './failure.js'

/** The kinds of a table that are events: methods that return nothing. */
type Told<Table> = { [Kind in keyof Table]: Table[Kind] extends Asks ? never : Kind }[keyof Table] & string
/** The kinds of a table that are questions: methods that return a promise of the answer. */
type Asked<Table> = { [Kind in keyof Table]: Table[Kind] extends Asks ? Kind : never }[keyof Table] & string
type Asks = (...values: never[]) => Promise<unknown>
type Values<Method> = Method extends (...values: infer Given extends unknown[]) => unknown ? Given : never
type Answer<Method> = Method extends (...values: never[]) => Promise<infer Value> ? Value : never

/** A worker, or the port of one. */
interface Port {
  postMessage(message: unknown, given: readonly Given[]): void
  on(event: 'message', listener: (message: readonly unknown[]) => void): unknown
}
type Given = ArrayBuffer | MessagePort
type Handler = (...values: readonly unknown[]) => unknown

interface Waiting {
  resolve(answer: unknown): void
  reject(error: StatusError): void
}

/** Kinds that every channel has. Those of the table follow in the order of their first use. */
const ANSWERED = 0
const FAILED = 1
const FIRST_KIND = 2
/** In place of the number of a question. */
const EVENT = 0
/** Kind, number of the question, and how many values follow. */
const HEAD_LENGTH = 3

/**
 * One side of what two threads tell and ask each other. `There` is the table of the other side: a method for each kind of event that it
 * hears, and one that returns a promise for each kind of question that it answers. Rooms take a channel for the part of the
 * table that they know. All of one turn of the event loop goes in one message, because a message costs more than what is in it. Events,
 * questions and answers arrive in the order in which they were sent.
 */
export class ThreadChannel<out There> {
  /** Called before a message goes, for what is collected until then: it may send and ask. */
  beforeFlush: (() => void) | undefined
  readonly #port: Port
  /** Of each event, question and answer of this turn: kind, number of the question, count of values, values. */
  #message: unknown[] = []
  #given: Given[] = []
  #isScheduled = false
  #hasEnded = false
  /** The numbers of the kinds that were sent. The first of a kind carries its name: a number costs less. */
  readonly #kinds = new Map<string, number>()
  readonly #waiting = new Map<number, Waiting>()
  #lastQuestion = EVENT

  constructor(port: Port) {
    this.#port = port
  }

  /** The other side has ended. */
  get hasEnded(): boolean {
    return this.#hasEnded
  }

  /** Tells the other side. */
  send<Kind extends Told<There>>(kind: Kind, ...values: Values<There[Kind]>): void {
    this.#add(this.#numberOf(kind), EVENT, values)
  }

  /** Asks the other side. Rejects with the error of who answers, or UNAVAILABLE if the other side ends before. */
  ask<Kind extends Asked<There>>(kind: Kind, ...values: Values<There[Kind]>): Promise<Answer<There[Kind]>> {
    return new Promise((resolve, reject) => {
      if (this.#hasEnded) {
        reject(gone())
        return
      }
      const question = ++this.#lastQuestion
      this.#waiting.set(question, { resolve: resolve as Waiting['resolve'], reject })
      this.#add(this.#numberOf(kind), question, values)
    })
  }

  /** These are values of this turn, or below one, and belong to the other thread once it is over. */
  give(...given: readonly Given[]): void {
    this.#given.push(...given)
  }

  /** Copies bytes for an event. The copy belongs to the other thread. */
  copyOf(bytes: Uint8Array): Uint8Array<ArrayBuffer> {
    const copy = new Uint8Array(bytes)
    this.#given.push(copy.buffer)
    return copy
  }

  /** A message goes at the end of this turn, if there is something to tell by then. */
  schedule(): void {
    if (this.#isScheduled) return
    this.#isScheduled = true
    guardedImmediate(() => {
      if (this.#isScheduled) this.flush()
    })
  }

  /** Tells at once what waits for the end of the turn. */
  flush(): void {
    this.#isScheduled = true
    this.beforeFlush?.()
    this.#isScheduled = false
    if (this.#message.length === 0) return
    const message = this.#message
    const given = this.#given
    this.#message = []
    this.#given = []
    this.#port.postMessage(message, given)
  }

  /**
   * Begins to hear the other side, by the table of this one, which a caller names: an event without a handler does not compile. A
   * handler of events that throws throws to the event loop. What a handler of questions throws is the answer.
   */
  hear<Here extends object = never>(handlers: NoInfer<Here>): void {
    const named = handlers as unknown as Readonly<Record<string, Handler>>
    /** By number, behind those of answers. */
    const heard: (Handler | undefined)[] = [undefined, undefined]
    this.#port.on('message', (message) => {
      for (let at = 0; at < message.length; ) {
        const kind = message[at] as number | string
        const question = message[at + 1] as number
        const from = at + HEAD_LENGTH
        at = from + (message[at + 2] as number)
        if (typeof kind === 'string') heard.push(named[kind])
        const handler = typeof kind === 'string' ? named[kind] : heard[kind]
        if (handler === undefined) this.#settle(kind, question, message[from])
        else if (question === EVENT) handler(...message.slice(from, at))
        else void this.#answer(question, handler, message.slice(from, at))
      }
    })
  }

  /** The other side has ended: nobody answers any more. */
  end(): void {
    this.#hasEnded = true
    for (const { reject } of this.#waiting.values()) reject(gone())
    this.#waiting.clear()
  }

  #add(kind: number | string, question: number, values: readonly unknown[]): void {
    this.#message.push(kind, question, values.length, ...values)
    this.schedule()
  }

  #numberOf(kind: string): number | string {
    const known = this.#kinds.get(kind)
    if (known !== undefined) return known
    this.#kinds.set(kind, FIRST_KIND + this.#kinds.size)
    return kind
  }

  async #answer(question: number, handler: Handler, values: readonly unknown[]): Promise<void> {
    try {
      this.#add(ANSWERED, question, [await handler(...values)])
    } catch (error) {
      this.#add(FAILED, question, [failureOf(error)])
    }
  }

  #settle(kind: unknown, question: number, value: unknown): void {
    const waiting = this.#waiting.get(question)
    this.#waiting.delete(question)
    if (kind === ANSWERED) waiting?.resolve(value)
    else waiting?.reject(errorOf(value as Failure))
  }
}

const gone = (): StatusError => new StatusError('UNAVAILABLE', 'the other thread has ended')

/** Received bytes as a Buffer, without a copy. */
export const bufferOf = (bytes: Uint8Array): Buffer => Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength)
