import { StatusError } from '../../base/status-error.js'
import {
  PersistentWorkerEventsKind as Kind,
  type KeptRoots as RootsTold,
  type PersistentWorkers as Told,
} from '../../proto/generated/remexec.worker.v1.js'
import type { KeptRoots, PersistentEvent, PersistentWorkers } from '../../scheduler/scheduler.js'

const MAX_EVENTS = 200
const MAX_REASON_CHARACTERS = 40

const KINDS: ReadonlyMap<number, PersistentEvent['kind']> = new Map([
  [Kind.REUSED, 'reused'],
  [Kind.STARTED, 'started'],
  [Kind.RETRIED, 'retried'],
  [Kind.FELL_BACK, 'fell_back'],
  [Kind.ENDED, 'ended'],
])

/** What a worker told of its persistent workers. INVALID_ARGUMENT for too much. Kinds of later releases are left out. */
export const persistentIn = ({ idle, busy, residentBytes, events }: Told): PersistentWorkers => {
  if (events.length > MAX_EVENTS) {
    const found = `PersistentWorkers: ${events.length} events are not valid`
    throw new StatusError('INVALID_ARGUMENT', `${found}, expected at most ${MAX_EVENTS}`)
  }
  return { idle, busy, residentBytes, events: events.flatMap(eventIn) }
}

const eventIn = ({
  kind,
  reason,
  count,
}: {
  readonly kind: number
  readonly reason: string
  readonly count: number
}): PersistentEvent[] => {
  const known = KINDS.get(kind)
  const word = /^[a-z_]+$/.test(reason) ? reason.slice(0, MAX_REASON_CHARACTERS) : ''
  return known === undefined ? [] : [{ kind: known, reason: word, count }]
}

/** What a worker told of its kept input roots. */
export const rootsIn = ({
  kept,
  fileBytes,
  equal,
  changed,
  fresh,
  placedFiles,
  untouchedFiles,
}: RootsTold): KeptRoots => ({
  ...{ kept, fileBytes: counted(fileBytes), equal, changed, fresh },
  ...{ placedFiles: counted(placedFiles), untouchedFiles: counted(untouchedFiles) },
})

/** Counters never fall. */
const counted = (value: number): number => Math.max(0, value)
