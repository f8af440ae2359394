import { StatusError } from '../base/status-error.js'
import { guardedTimeout } from '../base/timers.js'
import { statusOf } from '../proto/error-details.js'
import { ProgressStage, type ReadPrinted, type Start } from '../proto/generated/remexec.worker.v1.js'
import { toMs } from '../proto/time.js'
import { Digest, resolveDigestFunction } from '../reapi/digest.js'
import { digestFunctions } from '../reapi/digest-function.js'
import { sickness } from './attempt/fault.js'
import type { AttemptOutcome, AttemptRequest } from './attempt/request.js'
import type { ToScheduler } from './connection.js'

/** An attempt whose result is not acknowledged yet. */
interface Held {
  readonly start: Start
  readonly controller: AbortController
  stage: number
  /**
   * Whether the attempt occupies a slot. It does until its outputs are being uploaded, when the scheduler gives its
   * slot to another.
   */
  hasSlot: boolean
  outcome: AttemptOutcome | undefined
  /** Tells what the command has printed. */
  execution?: Parameters<NonNullable<AttemptRequest['onExecution']>>[0]
  /** Delays the report that the command runs. */
  timer?: NodeJS.Timeout
}

/** An attempt that waits for a slot. */
interface Waiting {
  readonly attemptId: string
  /** Ends the wait, with or without a slot. */
  readonly end: (hasSlot: boolean) => void
}

/** Shorter runs are not reported as running, because the scheduler works with seconds. */
const SHORT_RUN_MS = 100

/**
 * How long an attempt waits for a slot, before another worker may take it. The scheduler avoids workers whose wait
 * exceeds half of this.
 */
const PATIENCE_MS = 50

/**
 * While attempts wait for slots, results are sent in groups. A single result costs the server a turn of its event loop,
 * and so do the messages that follow from it, also at the client.
 */
const RESULTS_TOGETHER = 4
const RESULTS_WITHIN_MS = 2

/** Of each output, read at once. */
const MAX_PRINTED_BYTES = 64 * 1024

export interface AttemptsOptions {
  readonly run: (request: AttemptRequest) => Promise<AttemptOutcome>
  /** 0 sets no limit. */
  readonly maxInflight: number
  /** Number of further attempts that are accepted and wait for a slot. */
  readonly maxWaiting: number
  readonly send: (message: ToScheduler) => void
}

/**
 * The attempts of one worker by id, from their start until their result is acknowledged. A lost connection ends none of
 * them, and results are sent again until the scheduler acknowledges them.
 */
export class Attempts {
  readonly #options: AttemptsOptions
  readonly #held = new Map<string, Held>()
  #running = 0
  #slotsTaken = 0
  readonly #line: Waiting[] = []
  /** Results that wait to be sent together. */
  readonly #results: ToScheduler[] = []
  #sending: NodeJS.Timeout | undefined
  #isDraining = false
  #isClosed = false
  #isEnding = false
  /** Why the worker can run nothing now; empty while it is fine. */
  sick = ''
  #waiting: { readonly isIdle: () => boolean; readonly resolve: () => void }[] = []

  constructor(options: AttemptsOptions) {
    this.#options = options
  }

  get ids(): readonly string[] {
    return [...this.#held.keys()]
  }

  /** The Start messages of all attempts. */
  get starts(): readonly Start[] {
    return [...this.#held.values()].map(({ start }) => start)
  }

  get running(): number {
    return this.#running
  }

  start(start: Start): void {
    const { attemptId } = start
    const held = this.#held.get(attemptId)
    if (held !== undefined) {
      this.#report(attemptId, held)
      return
    }
    const { maxInflight, maxWaiting, send } = this.#options
    const refusal =
      this.#isDraining || this.#isClosed
        ? new StatusError('UNAVAILABLE', 'the worker is draining')
        : this.sick !== ''
          ? sickness(this.sick)
          : this.#isFull && this.#line.length >= maxWaiting
            ? new StatusError(
                'RESOURCE_EXHAUSTED',
                `the worker runs ${this.#slotsTaken} actions, its limit is ${maxInflight}`,
              )
            : undefined
    if (refusal === undefined) void this.#run(start)
    else send({ result: { attemptId, refused: statusOf(refusal) } })
  }

  /** The attempt ends soon with its own outcome. One that has ended keeps its outcome. */
  kill(attemptId: string): void {
    this.#held.get(attemptId)?.controller.abort(new StatusError('ABORTED', 'the attempt was killed'))
    this.#line.find((waiting) => waiting.attemptId === attemptId)?.end(false)
  }

  /** Tells what an attempt has printed so far. */
  readPrinted({ id, attemptId, maxBytes, stdoutOffset, stderrOffset }: ReadPrinted): void {
    const held = this.#held.get(attemptId)
    const offsets = { stdout: stdoutOffset, stderr: stderrOffset }
    const printed =
      held?.outcome === undefined
        ? held?.execution?.printedSoFar(Math.min(maxBytes, MAX_PRINTED_BYTES), offsets)
        : undefined
    const { stdout, stderr } = printed ?? {}
    this.#options.send({
      printedOutput: {
        ...{ id, runs: printed !== undefined },
        ...(stdout && { stdout: stdout.bytes, stdoutSize: stdout.sizeBytes }),
        ...(stderr && { stderr: stderr.bytes, stderrSize: stderr.sizeBytes }),
      },
    })
  }

  /** The worker stops: what cannot end any more is given back. */
  killAll(): void {
    this.#isEnding = true
    for (const attemptId of this.#held.keys()) this.kill(attemptId)
  }

  acknowledge(attemptId: string): void {
    if (this.#held.get(attemptId)?.outcome === undefined) return
    this.#held.delete(attemptId)
    this.#announceIdle()
  }

  /** Sends the state of all attempts, because the scheduler may have restarted. */
  welcomed(): void {
    this.#isDraining = false
    for (const [attemptId, held] of this.#held) this.#report(attemptId, held)
  }

  /** Refuses new attempts until the next welcome, because the scheduler is about to stop. */
  drain(): void {
    this.#isDraining = true
  }

  /** Refuses new attempts from now on. */
  close(): void {
    this.#isClosed = true
  }

  /** Resolves when nothing runs; with `acknowledged`, when the scheduler has also acknowledged every result. */
  idle({ acknowledged }: { readonly acknowledged: boolean }): Promise<void> {
    const isIdle = () => this.#running === 0 && (!acknowledged || this.#held.size === 0)
    return isIdle() ? Promise.resolve() : new Promise((resolve) => this.#waiting.push({ isIdle, resolve }))
  }

  async #run(start: Start): Promise<void> {
    const { attemptId } = start
    const held: Held = {
      start,
      controller: new AbortController(),
      stage: 0,
      hasSlot: !this.#isFull,
      outcome: undefined,
    }
    this.#held.set(attemptId, held)
    this.#running += 1
    if (held.hasSlot) this.#slotsTaken += 1
    else held.hasSlot = await this.#takeSlot(attemptId)
    const outcome = held.hasSlot ? await this.#outcome(start, held) : { givenBack: {} }
    this.#running -= 1
    clearTimeout(held.timer)
    this.#releaseSlot(held)
    held.outcome = this.#isEnding && outcome.workerError !== undefined ? { givenBack: { stops: true } } : outcome
    this.#report(attemptId, held)
    this.#announceIdle()
  }

  get #isFull(): boolean {
    const { maxInflight } = this.#options
    return maxInflight > 0 && this.#slotsTaken >= maxInflight
  }

  /** Waits in order of arrival for a slot. False if none was free in time or the attempt was killed. */
  #takeSlot(attemptId: string): Promise<boolean> {
    return new Promise((resolve) => {
      const timer = guardedTimeout(() => waiting.end(false), PATIENCE_MS)
      const waiting: Waiting = {
        attemptId,
        end: (hasSlot) => {
          clearTimeout(timer)
          this.#line.splice(this.#line.indexOf(waiting), 1)
          resolve(hasSlot)
        },
      }
      this.#line.push(waiting)
    })
  }

  async #outcome(start: Start, held: Held): Promise<AttemptOutcome> {
    const {
      attemptId,
      instanceName,
      isolated,
      properties,
      queuedTimestamp,
      traceparent,
      tracestate,
      origin,
      action,
      scope,
    } = start
    try {
      return await this.#options.run({
        attemptId,
        instanceName,
        isIsolated: isolated,
        scope: scope?.name ?? '',
        properties,
        actionDigest: digestOf(start),
        actionBytes: action.length === 0 ? undefined : action,
        queuedMs: queuedTimestamp === null ? undefined : toMs(queuedTimestamp),
        trace: traceparent === '' ? undefined : { traceparent, tracestate },
        origin,
        signal: held.controller.signal,
        onExecution: (execution) => {
          held.execution = execution
        },
        onWait: (waitsFor) => this.#options.send({ progress: { attemptId, stage: held.stage, waitsFor } }),
        onProgress: (stage) => {
          held.stage = stage
          if (stage >= ProgressStage.UPLOADING_OUTPUTS) this.#releaseSlot(held)
          clearTimeout(held.timer)
          if (stage === ProgressStage.RUNNING)
            held.timer = guardedTimeout(() => this.#report(attemptId, held), SHORT_RUN_MS)
          else this.#report(attemptId, held)
        },
      })
    } catch (error) {
      return { workerError: statusOf(StatusError.from(error)) }
    }
  }

  #releaseSlot(held: Held): void {
    if (!held.hasSlot) return
    held.hasSlot = false
    const [next] = this.#line
    if (next === undefined) this.#slotsTaken -= 1
    else next.end(true)
  }

  #report(attemptId: string, { outcome, stage }: Held): void {
    const { send } = this.#options
    if (outcome !== undefined) this.#queueResult({ result: { attemptId, ...outcome } })
    else if (stage > 0) send({ progress: { attemptId, stage } })
  }

  #queueResult(result: ToScheduler): void {
    this.#results.push(result)
    if (this.#line.length === 0 || this.#results.length >= RESULTS_TOGETHER) this.#sendResults()
    else this.#sending ??= guardedTimeout(() => this.#sendResults(), RESULTS_WITHIN_MS)
  }

  #sendResults(): void {
    clearTimeout(this.#sending)
    this.#sending = undefined
    for (const result of this.#results.splice(0)) this.#options.send(result)
  }

  #announceIdle(): void {
    for (const { isIdle, resolve } of this.#waiting) if (isIdle()) resolve()
    this.#waiting = this.#waiting.filter(({ isIdle }) => !isIdle())
  }
}

const digestOf = ({ actionDigest, digestFunction }: Start): Digest => {
  const known = Object.values(digestFunctions)
  return Digest.parse(actionDigest, resolveDigestFunction(digestFunction, actionDigest?.hash, known), 'action_digest')
}
