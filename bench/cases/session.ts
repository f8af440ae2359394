import type { ChildProcess } from 'node:child_process'
import type { RateCase } from '../case.js'
import { PLACES, schedulingOnly, withPlaces } from '../server/config.js'
import type { Server } from '../server/process.js'
import { startIdleWorker } from '../server/start-idle-worker.js'
import { type ReplayOptions, recordedSession, replay } from '../session-traffic.js'

const CACHE_ONLY = 'bazel-4.2-cache-only'
const EXECUTION = 'bazel-4.2-genrules'

/** Sessions until the code that runs commands is compiled, in the server and in its worker. */
const WARM_SESSIONS = 200

/** A unit is one call. */
const sessionCase = (
  name: string,
  clients: number,
  {
    title = `session ${name} at ${clients} clients`,
    warm = 0,
    ...options
  }: Partial<ReplayOptions> & { readonly title?: string; readonly warm?: number },
): RateCase => {
  const session = recordedSession(name)
  const run: RateCase['run'] = (server, sessions, ready) =>
    replay(session, server, { sessions, clients, ...options }, ready)
  return {
    kind: 'rate',
    name: title,
    unit: 'op',
    unitsPerRequest: session.calls.length,
    requests: { least: 2 * clients, most: 600, warm },
    run,
    limits: [
      {
        name: 'bare handler',
        usesBare: true,
        run: (bare, sessions, ready) => replay(session, bare, { sessions, clients }, ready),
      },
    ],
  }
}

/** Measured beside a worker that answers at once, to exclude the commands. */
const withIdleWorker = (clients: number): RateCase => {
  const workers: ChildProcess[] = []
  const title = `session ${EXECUTION} at ${clients} clients, idle worker`
  return {
    ...sessionCase(EXECUTION, clients, { title, storesOutputs: true }),
    configure: schedulingOnly,
    setUp: async (server: Server) => void workers.push(await startIdleWorker(server)),
    tearDown: async () => {
      for (const worker of workers) worker.kill()
    },
  }
}

/** The recorded traffic of Bazel as cache client and as executor client, for several clients at once. */
export const sessionCases = (clients: number): readonly RateCase[] => [
  sessionCase(CACHE_ONLY, clients, {}),
  withIdleWorker(clients),
  sessionCase(EXECUTION, clients, { warm: WARM_SESSIONS }),
  {
    ...sessionCase(EXECUTION, clients, {
      title: `session ${EXECUTION} at ${clients} clients, ${PLACES} places`,
      warm: WARM_SESSIONS,
    }),
    configure: withPlaces,
  },
]
