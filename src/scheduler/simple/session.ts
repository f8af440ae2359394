import type { WorkerSession } from '../scheduler.js'
import type { SimpleScheduler } from './machine.js'
import type { Command } from './state/state.js'

/** What a worker says, as events of the machine. `say` carries out what follows from one, if the worker still has this connection. */
export const eventsOf = (
  machine: SimpleScheduler,
  workerId: string,
  say: (event: (nowMs: number) => Command[]) => void,
): Omit<WorkerSession, 'printed' | 'disconnected'> => ({
  workerId,
  keepAlive: () => say((nowMs) => machine.keepAlive(nowMs, workerId)),
  progress: (attemptId, stage, waitsFor) =>
    say((nowMs) => machine.progress(nowMs, workerId, attemptId, stage, waitsFor)),
  report: (attemptId, response, run) => say((nowMs) => machine.report(nowMs, workerId, attemptId, response, run)),
  workerError: (attemptId, error) => say((nowMs) => machine.workerError(nowMs, workerId, attemptId, error)),
  refuse: (attemptId, error) => say((nowMs) => machine.refuse(nowMs, workerId, attemptId, error)),
  giveBack: (attemptId, stops) => say((nowMs) => machine.giveBack(nowMs, workerId, attemptId, stops)),
  health: (sick) => say((nowMs) => machine.health(nowMs, workerId, sick)),
  warm: (added, dropped) => say((nowMs) => machine.warm(nowMs, workerId, added, dropped)),
  keeps: (told) => say((nowMs) => machine.keeps(nowMs, workerId, told)),
  goingAway: () => say((nowMs) => machine.goingAway(nowMs, workerId)),
})
