import type { Progress } from '../../request.js'
import type { Execution, Worker } from '../state/state.js'
import { isAwaited } from '../warm/expecting.js'
import { type WarmKey, worthAWait } from '../warm/keys.js'
import type { Bucket } from './bucket.js'
import { explainMismatch } from './explain.js'
import type { Queue } from './queue.js'
import type { Tenant } from './tenants.js'

/** Workers listed by name; the rest is only counted. */
const MAX_SHOWN = 3

/** Explains why an execution waits: missing properties, full workers, and the queue ahead of it. */
export const whyItWaits = (execution: Execution, queue: Queue, workers: Iterable<Worker>): string => {
  const { seat, requirement } = execution
  const bucket = queue.bucketOf(requirement)
  if (seat === undefined || bucket === undefined) return ''
  if (bucket.capable.size === 0) return `no worker can run it: ${explainMismatch(requirement, workers)}`
  if (execution.expecting !== undefined) return `${expected(execution, workers)}; ${ahead(queue, seat.tenant)}`
  const isCapped = !queue.mayRun(seat.tenant.name)
  const reason = isCapped
    ? `its instance runs ${seat.tenant.running} actions, as many as it may (max_running_actions_per_instance)`
    : occupied(execution, bucket)
  return `${reason}; ${ahead(queue, seat.tenant)}`
}

/** What stands for a process or for an input root says nothing to people. */
const inWords = (key: string): string =>
  key.startsWith('tool:') ? 'its persistent worker' : key.startsWith('kind:') ? 'an input root like its own' : key

/** Other workers have room: which one it waits for, and until when. */
const expected = (execution: Execution, workers: Iterable<Worker>): string => {
  const { warmKeys, requirement, expecting, waitingSinceMs } = execution
  const forMs = (expecting?.dueMs ?? waitingSinceMs) - waitingSinceMs
  const holders = [...workers].filter((worker) => isAwaited(worker, execution))
  const shown = holders.slice(0, MAX_SHOWN).map((worker) => `${worker.id} ${state(worker, requirement)}`)
  const isHeld = ({ key, worth }: WarmKey): boolean =>
    (worthAWait(worth) & ~execution.warmerThan) > 0 && holders.some(({ warm }) => warm.has(key))
  const held = warmKeys.filter(isHeld).map(({ key }) => inWords(key))
  return `it waits for ${forMs} ms at most for a worker that has ${held.join(' or ')} ready (${shown.join(', ')})`
}

const occupied = ({ requirement }: Execution, { capable }: Bucket): string => {
  const shown: string[] = []
  let count = 0
  for (const { workers } of capable) {
    for (const worker of workers) {
      count++
      if (shown.length < MAX_SHOWN) shown.push(`${worker.id} ${state(worker, requirement)}`)
    }
  }
  return count > shown.length ? `${shown.join(', ')}, and ${count - shown.length} more` : shown.join(', ')
}

const state = (worker: Worker, { minimum, signature }: Execution['requirement']): string => {
  if (!worker.isConnected) return 'has lost its connection'
  if (worker.standing.trouble !== '') return `is ${worker.standing.trouble}`
  if (worker.isPaused) return 'is paused after an action failed or was rejected there'
  const { maxInflightAttempts: slots } = worker.offer
  if (worker.inflight > slots) return `runs ${slots} of ${slots}, and queues ${worker.inflight - slots} more`
  if (worker.inflight === slots) return `runs ${slots} of ${slots}`
  if (worker.heldFor !== undefined && worker.heldFor !== signature) return 'is held for a larger action'
  for (const [name, amount] of minimum) {
    const left = worker.left.get(name) ?? 0
    if (left < amount) return `has ${Math.max(0, left)} of ${worker.total.get(name)} ${name} left, it needs ${amount}`
  }
  return 'is about to start an action'
}

const ahead = ({ size }: Queue, { queued }: Tenant): string =>
  `${size - 1} others wait, ${queued - 1} of them of its instance`

/** Bounds the cost of a position in a long queue. */
const MAX_LOOKED_AT = 100

/**
 * How many waiting executions of its requirement would start before it if all were of one invocation: by
 * priority, age and arrival. A lower bound: only the first 100 arrivals are checked.
 */
const positionOf = (execution: Execution, bucket: Bucket): number => {
  let position = 0
  let looked = 0
  for (const other of bucket.arrivals) {
    if (looked++ >= MAX_LOOKED_AT) break
    if (other.rank < execution.rank || (other.rank === execution.rank && other.sequence < execution.sequence))
      position++
  }
  return position
}

/** Where an execution is, and why it waits. */
export const progressOf = (execution: Execution, queue: Queue, workers: Iterable<Worker>): Progress => {
  const { attempt, attempts, queuedMs } = execution
  const bucket = execution.state === 'queued' ? queue.bucketOf(execution.requirement) : undefined
  return {
    waitsFor: bucket === undefined ? (attempt?.waitsFor ?? '') : whyItWaits(execution, queue, workers),
    position: bucket === undefined ? 0 : positionOf(execution, bucket),
    queueLength: bucket === undefined ? 0 : queue.size,
    attempt: attempts,
    workerId: attempt?.worker.id ?? '',
    queuedMs,
    startedMs: attempt?.startedMs,
  }
}
