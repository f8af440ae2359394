/**
 * All transitions: the state of an execution, attempt or worker changes only by these tables. An event that a
 * state does not list is a bug and throws. `docs/scheduler.md` shows the same tables (tested).
 */
export const TRANSITIONS = {
  execution: {
    new: { queue: 'queued', start: 'executing' },
    queued: { start: 'executing', finish: 'done', withdraw: 'done' },
    executing: { queue: 'queued', start: 'executing', report: 'settling', finish: 'done', withdraw: 'done' },
    settling: { finish: 'done', withdraw: 'done' },
    done: {},
  },
  attempt: {
    running: { upload: 'uploading', kill: 'killing', end: 'over' },
    uploading: { kill: 'killing', end: 'over' },
    killing: { end: 'over' },
    over: {},
  },
  worker: {
    connected: { leave: 'draining', disconnect: 'away', remove: 'gone' },
    draining: { leave: 'draining', resume: 'connected', disconnect: 'departed', remove: 'gone' },
    away: { leave: 'departed', disconnect: 'away', remove: 'gone' },
    departed: { leave: 'departed', disconnect: 'departed', remove: 'gone' },
    gone: {},
  },
} as const

export type ExecutionState = keyof (typeof TRANSITIONS)['execution']
export type AttemptState = keyof (typeof TRANSITIONS)['attempt']
export type WorkerState = keyof (typeof TRANSITIONS)['worker']

/** Every event of one of the three tables. */
export type EventOf<Kind extends keyof typeof TRANSITIONS> = {
  [State in keyof (typeof TRANSITIONS)[Kind]]: keyof (typeof TRANSITIONS)[Kind][State]
}[keyof (typeof TRANSITIONS)[Kind]]

/** The state after an event. */
export const after = <Kind extends keyof typeof TRANSITIONS>(
  kind: Kind,
  state: keyof (typeof TRANSITIONS)[Kind],
  event: EventOf<Kind>,
): keyof (typeof TRANSITIONS)[Kind] => {
  const table: Readonly<Record<string, Readonly<Record<string, string>>>> = TRANSITIONS[kind]
  const next = table[String(state)]?.[String(event)]
  if (next === undefined) throw new Error(`${kind} is ${String(state)}: ${String(event)} makes no sense`)
  return next as keyof (typeof TRANSITIONS)[Kind]
}
