import type {
  PlatformDemand as DemandMessage,
  ActionFacts as FactsMessage,
  FailedAction as FailedMessage,
  QueuedAction as QueuedMessage,
  StatePart,
  WorkerState,
} from '../../proto/generated/remexec.scheduler.v1.js'
import type {
  ActionFacts,
  FailedAction,
  PlatformDemand,
  QueuedAction,
  QueuedOverview,
  SchedulerOverview,
  WorkerOverview,
} from '../scheduler.js'

/** What another process told about its schedulers. */
export interface ToldState {
  readonly overview: SchedulerOverview
  /** Operations that ended, by result. */
  readonly results: ReadonlyMap<string, number>
}

/** The state that the parts tell. Its times are those of this machine's clock: `nowMs` is its present time. */
export const toldBy = (parts: readonly StatePart[], nowMs: number): ToldState => {
  const [first] = parts
  const aheadMs = nowMs - (first?.nowMs ?? nowMs)
  return {
    overview: {
      workers: parts.flatMap(({ workers }) => workers.map((one) => workerOf(one, aheadMs))),
      queued: first?.queued ?? 0,
      stuck: () => (first?.stuck ? { count: first.stuck, reason: first.stuckReason } : undefined),
      queue: parts.flatMap(({ queue }) => queue.map((one) => queuedOf(one, aheadMs))),
      failed: parts.flatMap(({ failed }) => failed.map((one) => failedOf(one, aheadMs))),
      demand: parts.flatMap(({ demand }) => demand.map(demandOf)),
    },
    results: new Map(first?.results.map(({ name, value }) => [name, value])),
  }
}

// Fields at their default are not the message's own, so a copy by `...` would lack them.

const workerOf = (message: WorkerState, aheadMs: number): WorkerOverview => {
  const { id, name, state, trouble, isDrainedByOperator, running, waiting, places, heardMs } = message
  return {
    ...{ id, name, state, isDrainedByOperator, running, waiting },
    ...(trouble !== '' && { trouble }),
    heardMs: heardMs + aheadMs,
    places: places === 0 ? null : places,
    properties: Object.fromEntries(message.properties.map((one) => [one.name, one.values])),
    left: Object.fromEntries(message.left.map((one) => [one.name, one.value])),
    attempts: message.attempts.map(({ id, operation, state, startedMs, facts }) => {
      const started = { id, operation: operation === '' ? null : operation, state, startedMs: startedMs + aheadMs }
      return facts === null ? started : { ...started, ...factsOf(facts) }
    }),
  }
}

const demandOf = ({ properties, queued, running, queuedAmounts, runningAmounts }: DemandMessage): PlatformDemand => {
  const amounts = new Map<string, { queued: number; running: number }>()
  for (const { name, value } of queuedAmounts) amounts.set(name, { queued: value, running: 0 })
  for (const { name, value } of runningAmounts)
    amounts.set(name, { queued: amounts.get(name)?.queued ?? 0, running: value })
  return { properties: properties.map(({ name, values: [value = ''] }) => [name, value]), queued, running, amounts }
}

const queuedOf = (message: QueuedMessage, aheadMs: number): QueuedAction => {
  const { facts, operation, priority, attempts, queuedMs, waitsFor } = message
  const told = { operation, priority, attempts, queuedMs: queuedMs + aheadMs, waitsFor: () => waitsFor }
  const overview: QueuedOverview = { ...factsOf(facts), ...told }
  const { instance, action, invocation } = overview
  return { instance, action, ...(invocation !== undefined && { invocation }), overview: () => overview }
}

const failedOf = (message: FailedMessage, aheadMs: number): FailedAction => {
  const { facts, operation, result, hasExitCode, exitCode, attempts, endedMs, tookMs } = message
  const { worker, code, reason, stdout, stderr, response } = message
  return {
    ...factsOf(facts),
    ...known({ worker, code, reason, stdout, stderr, response }),
    ...(hasExitCode && { exitCode }),
    ...{ operation, attempts, tookMs },
    result: result === 'failure' || result === 'timeout' ? result : 'error',
    endedMs: endedMs + aheadMs,
  }
}

const factsOf = (facts: FactsMessage | null): ActionFacts => {
  if (facts === null) return { instance: '', action: '' }
  const { instance, action, target, mnemonic, invocation, tool, identity } = facts
  return { instance, action, ...known({ target, mnemonic, invocation, tool, identity }) }
}

/** Without the texts that are empty, which stand for those that are not known. */
const known = <T extends Readonly<Record<string, string>>>(texts: T): Partial<T> =>
  Object.fromEntries(Object.entries(texts).filter(([, text]) => text !== '')) as Partial<T>
