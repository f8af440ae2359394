import { StatusError } from '../../src/base/status-error.js'
import type { Ledger } from '../../src/ledger/ledger.js'
import { codec } from '../../src/proto/codec.js'
import { Digest } from '../../src/reapi/digest.js'
import { digestFunctions } from '../../src/reapi/digest-function.js'
import type { PlatformProperty } from '../../src/reapi/platform.js'
import type { ExecutionRequest, OperationState, WorkerOffer } from '../../src/scheduler/scheduler.js'
import { SimpleScheduler } from '../../src/scheduler/simple/machine.js'
import type { SimpleSettings } from '../../src/scheduler/simple/settings.js'
import type { MatchKind } from '../../src/scheduler/simple/state/requirement.js'
import type { Command } from '../../src/scheduler/simple/state/state.js'
import { defaultSettings } from './settings.js'

export const declared = new Map<string, MatchKind>([
  ['os', 'exact'],
  ['cpu', 'minimum'],
  ['pool', 'priority'],
  ['label', 'ignore'],
])
export const response = codec('build.bazel.remote.execution.v2.ExecuteResponse').decode(Buffer.alloc(0))
export const error = new StatusError('INTERNAL', 'disk on fire')

export type Pairs = readonly (readonly [string, string])[]

/** A state machine with a clock, and all commands it has returned. */
export class Bench {
  readonly machine: SimpleScheduler
  nowMs = 0
  readonly commands: Command[] = []
  #operations = 0

  constructor(settings: Partial<SimpleSettings> = {}, ledger?: Ledger, epoch?: number) {
    const all = { ...defaultSettings, supportedPlatformProperties: declared, ...settings }
    this.machine = new SimpleScheduler(all, undefined, ledger, epoch)
  }

  do(commands: readonly Command[]): readonly Command[] {
    for (const command of commands) this.commands.push(command)
    return commands
  }

  enqueue(pairs: Pairs = [], parts: Partial<ExecutionRequest> & { action?: string; instance?: string } = {}): string {
    const name = `operations/${++this.#operations}`
    const digest = Digest.of(Buffer.from(parts.action ?? name), digestFunctions.SHA256)
    this.do(this.machine.open(this.nowMs, name, parts.instance ?? '', digest))
    this.do(this.machine.clientAttached(this.nowMs, name))
    const properties = pairs.map(([property, value]): PlatformProperty => ({ name: property, value }))
    const { instance: instanceName = '', action: _, ...rest } = parts
    const asked = { ...{ instanceName, actionDigest: digest, properties, priority: 0, invocation: '' }, ...rest }
    const request = { doNotCache: false, skipCacheLookup: false, ...asked }
    this.do(this.machine.enqueue(this.nowMs, name, request))
    return name
  }

  worker(
    id: string,
    pairs: readonly (readonly [string, ...string[]])[] = [],
    maxInflightAttempts = Infinity,
    maxWaitingAttempts = 0,
    runsImages = false,
  ): void {
    const properties = new Map(pairs.map(([name, ...values]) => [name, values]))
    const offer: WorkerOffer = { name: id, properties, maxInflightAttempts, maxWaitingAttempts, runsImages }
    this.do(this.machine.workerConnected(this.nowMs, id, offer, { attemptIds: [] }))
  }

  /** Advances the clock while these workers keep sending keep-alives. */
  pass(ms: number, alive: readonly string[] = []): void {
    for (const untilMs = this.nowMs + ms; this.nowMs < untilMs; ) {
      this.nowMs = Math.min(untilMs, this.nowMs + 100)
      for (const id of alive) this.do(this.machine.keepAlive(this.nowMs, id))
      this.do(this.machine.tick(this.nowMs))
    }
  }

  fail(workerId: string, attemptId: string): void {
    this.do(this.machine.workerError(this.nowMs, workerId, attemptId, error))
  }

  cancel(name: string): void {
    this.do(this.machine.cancel(this.nowMs, name))
  }

  finish(workerId: string, attemptId: string, answer = response): void {
    const settled = this.do(this.machine.report(this.nowMs, workerId, attemptId, answer))
    for (const command of settled) {
      if (command.kind === 'settle')
        this.do(this.machine.settled(this.nowMs, command.executionId, { response: answer }))
    }
  }

  /** `worker operation attempt` of each start so far. */
  get starts(): string[] {
    return this.of('start').map(({ workerId, start }) => `${workerId} ${start.operationName} ${start.attemptId}`)
  }

  of<K extends Command['kind']>(kind: K): Extract<Command, { kind: K }>[] {
    return this.commands.filter((command): command is Extract<Command, { kind: K }> => command.kind === kind)
  }

  state(name: string): OperationState | undefined {
    return this.machine.get(name)
  }

  failure(name: string): StatusError | undefined {
    const outcome = this.state(name)?.outcome
    return outcome !== undefined && 'error' in outcome ? outcome.error : undefined
  }
}
