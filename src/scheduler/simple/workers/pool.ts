import { entryFor } from '../../../base/catch-all.js'
import { StatusError } from '../../../base/status-error.js'
import type { WorkerOffer } from '../../request.js'
import { amountOf, type MatchKind, type Requirement } from '../state/requirement.js'
import { type Attempt, Worker } from '../state/state.js'

/** A worker as it connects. INVALID_ARGUMENT when what it offers under a `minimum` property is no whole number. */
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
  return new Worker(id, offer, total, nowMs)
}

/**
 * What took longer, from its start to its end and with its own waiting, says that who waits on its worker may wait longer than
 * that worker lets it.
 */
const QUICK_MS = 25

const takes = (worker: Worker, places: number): boolean =>
  worker.isConnected && !worker.isPaused && worker.inflight < places

/** Whether a worker can be given anything at all now. */
export const hasPlace = (worker: Worker): boolean => takes(worker, worker.offer.maxInflightAttempts)

/** The same, or whether it may wait there: a command that begins when another has ended begins sooner so. */
const mayWait = (worker: Worker): boolean => {
  const { maxInflightAttempts: places, maxWaitingAttempts: waiting = 0 } = worker.offer
  return takes(worker, worker.isQuick ? places + waiting : places)
}

/** Whether a capable worker that takes something has what this asks for. */
const hasAmounts = (worker: Worker, { minimum, signature }: Requirement): boolean => {
  if (worker.heldFor !== undefined && worker.heldFor !== signature) return false
  for (const [name, amount] of minimum) if ((worker.left.get(name) ?? -1) < amount) return false
  return true
}

/** Whether a capable worker can start this now. */
export const hasRoom = (worker: Worker, requirement: Requirement): boolean =>
  hasPlace(worker) && hasAmounts(worker, requirement)

/** Whether a capable worker can start this now, or soon as it seems. */
export const hasRoomSoon = (worker: Worker, requirement: Requirement): boolean =>
  mayWait(worker) && hasAmounts(worker, requirement)

/** Books an attempt on its worker. What it brought along from before may exceed what is left. */
export const reserve = (attempt: Attempt): void => {
  const { worker, requirement } = attempt
  worker.attempts.add(attempt)
  if (attempt.hasReleased) return
  worker.inflight++
  for (const [name, amount] of requirement?.minimum ?? []) {
    worker.left.set(name, (worker.left.get(name) ?? 0) - amount)
  }
}

/** The attempts that have no place on their worker yet: it begins them in the order they came. */
export const waitingThere = ({ attempts, inflight, offer }: Worker): readonly Attempt[] => {
  const count = inflight - offer.maxInflightAttempts
  return count > 0 ? [...attempts].filter(({ hasReleased }) => !hasReleased).slice(-count) : []
}

/** Gives back what an attempt reserved, once. */
export const release = (attempt: Attempt, nowMs: number): void => {
  if (attempt.hasReleased) return
  attempt.hasReleased = true
  attempt.worker.inflight--
  attempt.worker.isQuick = nowMs - attempt.startedMs < QUICK_MS
  for (const [name, amount] of attempt.requirement?.minimum ?? []) {
    attempt.worker.left.set(name, (attempt.worker.left.get(name) ?? 0) + amount)
  }
}
