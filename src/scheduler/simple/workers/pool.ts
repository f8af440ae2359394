import { entryFor } from '../../../base/catch-all.js'
import { StatusError } from '../../../base/status-error.js'
import type { WorkerOffer } from '../../request.js'
import { amountOf, type MatchKind, matchedProperties, type Requirement } from '../state/requirement.js'
import { type Attempt, Worker } from '../state/state.js'

/** Whether this is offered, whatever is left of it now. */
export const couldRun = (
  {
    properties,
    total,
  }: { readonly properties: WorkerOffer['properties']; readonly total: ReadonlyMap<string, number> },
  { exact, minimum, present }: Requirement,
): boolean => {
  for (const { name, value } of exact) if (!properties.get(name)?.includes(value)) return false
  for (const [name, amount] of minimum) if ((total.get(name) ?? -1) < amount) return false
  return present.every((name) => properties.has(name))
}

/** Creates a connecting worker. Throws INVALID_ARGUMENT if a `minimum` property's value is no whole number. */
export const newWorker = (
  id: string,
  offer: WorkerOffer,
  declared: ReadonlyMap<string, MatchKind>,
  nowMs: number,
): Worker => {
  const total = new Map<string, number>()
  for (const [name, values] of offer.properties) {
    if (entryFor(declared, name) !== 'minimum') continue
    if (values.length === 0) throw new StatusError('INVALID_ARGUMENT', `worker property ${name} has no value`)
    total.set(name, Math.max(...values.map((value) => amountOf(name, value))))
  }
  return new Worker(id, { ...offer, properties: matchedProperties(offer, declared) }, total, nowMs)
}

/**
 * A worker is quick if its last attempt took less than this, including its wait there. Behind a longer
 * attempt, a waiting attempt may exceed the time for which the worker lets it wait.
 */
const QUICK_MS = 25

const takes = (worker: Worker, slots: number): boolean =>
  worker.isConnected && !worker.isPaused && worker.inflight < worker.standing.mayHave(slots)

/** Whether the worker has a free slot. */
export const hasFreeSlot = (worker: Worker): boolean => takes(worker, worker.offer.maxInflightAttempts)

/**
 * Whether the worker has a free slot, or may queue an attempt. A queued command starts as soon as another one
 * ends.
 */
export const mayWait = (worker: Worker): boolean => {
  const { maxInflightAttempts: slots, maxWaitingAttempts: waiting = 0 } = worker.offer
  return takes(worker, worker.isQuick ? slots + waiting : slots)
}

/** Whether a capable worker has the required amounts and is not held for another requirement. */
const hasAmounts = (worker: Worker, { minimum, signature }: Requirement): boolean => {
  if (worker.heldFor !== undefined && worker.heldFor !== signature) return false
  for (const [name, amount] of minimum) if ((worker.left.get(name) ?? -1) < amount) return false
  return true
}

/** Whether a capable worker can start this now. */
export const hasRoom = (worker: Worker, requirement: Requirement): boolean =>
  hasFreeSlot(worker) && hasAmounts(worker, requirement)

/** Whether a capable worker can start this now, or probably soon. */
export const hasRoomSoon = (worker: Worker, requirement: Requirement): boolean =>
  mayWait(worker) && hasAmounts(worker, requirement)

/** Reserves the attempt's slot and amounts. Attempts from before a reconnect may exceed what is left. */
export const reserve = (attempt: Attempt): void => {
  const { worker, requirement } = attempt
  worker.attempts.add(attempt)
  if (attempt.hasReleased) return
  worker.inflight++
  for (const [name, amount] of requirement?.minimum ?? []) {
    worker.left.set(name, (worker.left.get(name) ?? 0) - amount)
  }
}

/**
 * Attempts without a slot on their worker. The worker starts attempts in order of arrival, so these are the
 * last ones.
 */
export const waitingThere = ({ attempts, inflight, offer }: Worker): readonly Attempt[] => {
  const count = inflight - offer.maxInflightAttempts
  return count > 0 ? [...attempts].filter(({ hasReleased }) => !hasReleased).slice(-count) : []
}

/** Releases what an attempt reserved. Idempotent. */
export const release = (attempt: Attempt, nowMs: number): void => {
  if (attempt.hasReleased) return
  attempt.hasReleased = true
  attempt.worker.inflight--
  attempt.worker.isQuick = nowMs - attempt.startedMs < QUICK_MS
  for (const [name, amount] of attempt.requirement?.minimum ?? []) {
    attempt.worker.left.set(name, (attempt.worker.left.get(name) ?? 0) + amount)
  }
}
