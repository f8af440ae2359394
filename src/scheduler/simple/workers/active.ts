import type { ActiveWorker } from '../meter.js'
import type { Worker } from '../state/state.js'
import { waitingThere } from './pool.js'

/** A worker as metrics see it. */
export const activeWorker = (worker: Worker): ActiveWorker => {
  const { id, offer, isConnected, isDraining, attempts, heardMs, keeps } = worker
  const state = isConnected ? (isDraining ? 'draining' : (worker.standing.state ?? 'connected')) : 'away'
  const { name, maxInflightAttempts } = offer
  const running = attempts.size - waitingThere(worker).length
  return { id, name, state, running, maxInflightAttempts, heardMs, ...keeps }
}
