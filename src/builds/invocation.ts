import { countText } from '../base/quantities.js'
import { StatusError } from '../base/status-error.js'
import { guardedTimeout } from '../base/timers.js'
import type { Reservation } from '../ledger/reservation.js'
import { type LogState, NO_STATE } from './log/block.js'
import type { LogFile } from './log/log-file.js'
import { type EventRecord, Stream } from './log/record.js'
import { isLastOfTool } from './stored-event.js'

/** Events are synced together: at the latest after this time, or when there are this many, or this many bytes. */
export const GROUP_MS = 50
export const GROUP_EVENTS = 256
const GROUP_BYTES = 1024 * 1024
/** Events of a stream. Beyond `maxEventBytes` their numbers alone take some bytes each, so a stream without end is refused. */
const MAX_EVENTS = 20_000_000

export type EventStream = Exclude<Stream, typeof Stream.about | typeof Stream.own>

/** Events that reach the disk together. */
class Group {
  readonly records: EventRecord[] = []
  readonly reservations: Reservation[] = []
  sizeBytes = 0
  readonly durable: Promise<void>
  settle: (error?: Error) => void = () => {}

  constructor() {
    this.durable = new Promise((resolve, reject) => {
      this.settle = (error) => (error === undefined ? resolve() : reject(error))
    })
    // Every acknowledgement awaits it; without a waiting call nobody needs the failure.
    this.durable.catch(() => {})
  }
}

export interface NewEvent {
  readonly stream: EventStream
  readonly number: number
  readonly event: Buffer
  /** Held until the event is on disk. */
  readonly reservation?: Reservation | undefined
  /** Whether a number that leaves out others is taken. */
  readonly mayLeaveOut?: boolean
}

export interface InvocationParts {
  readonly file: LogFile
  readonly maxEventBytes: number
  readonly nowMs: () => number
  /** The reason why there is no room for further events. */
  readonly refusal: () => StatusError | undefined
  /** Called after each group with the bytes that the log grew by. */
  readonly grown: (byBytes: number) => void
  /** Called with the reason of the first failed write; the invocation takes nothing more. */
  readonly failed: (error: unknown) => StatusError
}

/** The log of an invocation that takes events: numbers them, groups them and says when they are on disk. */
export class Invocation {
  readonly #parts: InvocationParts
  /** With the events that are not on disk yet. */
  #state: LogState
  #group: Group | undefined
  /** Full ones, with the state behind each, while another is written: a block has to fit into one turn of its readers. */
  #full: { readonly group: Group; readonly state: LogState }[] = []
  #last: Group | undefined
  #timer: NodeJS.Timeout | undefined
  #isDescribed = false
  #isWriting = false
  #failure: StatusError | undefined

  constructor(parts: InvocationParts) {
    this.#parts = parts
    this.#state = parts.file.state
  }

  /** Whether it has no first record yet. */
  get isNew(): boolean {
    return this.#parts.file.sizeBytes === 0 && !this.#isDescribed
  }

  get lifecycleCount(): number {
    return this.#state.lastInvocation
  }

  get sizeBytes(): number {
    return this.#parts.file.sizeBytes
  }

  get isFinished(): boolean {
    return this.#parts.file.state.isFinished
  }

  /** Adds the first record. */
  describe(about: Buffer): void {
    this.#isDescribed = true
    this.#add({ stream: Stream.about, number: 0, receivedMs: this.#parts.nowMs(), event: about })
  }

  /** Adds what the server knows itself. Best effort: nothing beyond the bound of the log, and nobody waits for the disk. */
  note(event: Buffer): void {
    const eventBytes = this.#state.eventBytes + event.length
    if (this.#failure !== undefined || eventBytes > this.#parts.maxEventBytes) return
    this.#state = { ...this.#state, eventBytes }
    this.#add({ stream: Stream.own, number: 0, receivedMs: this.#parts.nowMs(), event })
  }

  /**
   * Resolves once the event is on disk; at once for a number that is there already. Throws FAILED_PRECONDITION for a
   * number whose predecessor never came, and for one behind the end.
   */
  append({ stream, number, event, reservation, mayLeaveOut = false }: NewEvent): Promise<void> {
    if (this.#failure !== undefined) throw this.#failure
    const last = lastOf(this.#state, stream)
    if (number <= last) {
      reservation?.release()
      return number <= lastOf(this.#parts.file.state, stream) ? Promise.resolve() : (this.#last as Group).durable
    }
    if (number > last + 1 && !mayLeaveOut)
      throw new StatusError(
        'FAILED_PRECONDITION',
        `event ${number} came after event ${last}, expected event ${last + 1}: resend the stream from there`,
      )
    if (stream === Stream.tool && this.#state.isFinished)
      throw new StatusError('FAILED_PRECONDITION', `event ${number} came after the end of the stream, event ${last}`)
    const isLast = stream === Stream.tool && isLastOfTool(event)
    const refusal = isLast ? undefined : this.#refusal(number)
    if (refusal !== undefined) throw refusal
    const isKept = isLast || this.#state.eventBytes + event.length <= this.#parts.maxEventBytes
    this.#state = {
      ...this.#state,
      ...(stream === Stream.tool && { lastTool: number }),
      ...(stream === Stream.invocation && { lastInvocation: number }),
      ...(stream === Stream.build && { lastBuild: number }),
      eventBytes: this.#state.eventBytes + (isKept ? event.length : 0),
      isFinished: this.#state.isFinished || isLast,
    }
    const record = { stream, number, receivedMs: this.#parts.nowMs(), event: isKept ? event : NOTHING }
    const group = this.#add(record, reservation)
    if (isLast || stream !== Stream.tool) this.#write()
    return group.durable
  }

  #refusal(number: number): StatusError | undefined {
    if (number <= MAX_EVENTS) return this.#parts.refusal()
    return new StatusError(
      'RESOURCE_EXHAUSTED',
      `the invocation has ${countText(MAX_EVENTS)} events already: no more are taken but the last one`,
    )
  }

  /** Resolves when nothing is left to write, and the file is closed. */
  async close(): Promise<void> {
    this.#write()
    await this.#last?.durable.catch(() => {})
    clearTimeout(this.#timer)
    await this.#parts.file.close()
  }

  #add(record: EventRecord, reservation?: Reservation): Group {
    this.#group ??= this.#begin()
    const group = this.#group
    group.records.push(record)
    if (reservation !== undefined) group.reservations.push(reservation)
    group.sizeBytes += record.event.length
    if (group.records.length >= GROUP_EVENTS || group.sizeBytes >= GROUP_BYTES) {
      this.#full.push({ group, state: this.#state })
      this.#ended()
      this.#write()
    }
    return group
  }

  /** The next event begins a group. */
  #ended(): void {
    this.#group = undefined
    clearTimeout(this.#timer)
  }

  #begin(): Group {
    this.#timer = guardedTimeout(() => this.#write(), GROUP_MS)
    const group = new Group()
    this.#last = group
    return group
  }

  /** Writes the oldest group, unless one is being written: then it goes on when that is on disk. */
  #write(): void {
    if (this.#isWriting) return
    const group = this.#group
    const next = this.#full.shift() ?? (group && { group, state: this.#state })
    if (next === undefined) return
    if (next.group === group) this.#ended()
    this.#isWriting = true
    this.#put(next.group, next.state).then(
      () => this.#written(next.group),
      (error: unknown) => this.#fail(next.group, error),
    )
  }

  async #put({ records }: Group, state: LogState): Promise<void> {
    const beforeBytes = this.#parts.file.sizeBytes
    await this.#parts.file.append(records, state)
    this.#parts.grown(this.#parts.file.sizeBytes - beforeBytes)
  }

  #written(group: Group): void {
    this.#isWriting = false
    for (const reservation of group.reservations) reservation.release()
    group.settle()
    // What came during the write has waited long enough.
    this.#write()
  }

  #fail(group: Group, error: unknown): void {
    this.#failure = this.#parts.failed(error)
    clearTimeout(this.#timer)
    for (const failed of [group, ...this.#full.map((one) => one.group), this.#group]) {
      for (const reservation of failed?.reservations ?? []) reservation.release()
      failed?.settle(this.#failure)
    }
    this.#full = []
    this.#group = undefined
    this.#isWriting = false
    this.#state = NO_STATE
  }
}

const NOTHING = Buffer.alloc(0)

const lastOf = ({ lastTool, lastInvocation, lastBuild }: LogState, stream: EventStream): number => {
  if (stream === Stream.tool) return lastTool
  return stream === Stream.invocation ? lastInvocation : lastBuild
}
