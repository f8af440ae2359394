import type { RateCase } from '../case.js'
import type { Server } from '../server/process.js'
import { recordedSession, replay } from '../session-traffic.js'

const SESSION = 'bazel-4.2-cache-only'
const CLIENTS = 8

/** What Bazel with a cache really sends, at several clients at once. A unit is one call. */
export const sessionCases = (): readonly RateCase[] => {
  const session = recordedSession(SESSION)
  const run = (server: Server, sessions: number) => replay(session, server, { sessions, clients: CLIENTS })
  return [
    {
      kind: 'rate',
      name: `session ${SESSION} at ${CLIENTS} clients`,
      unit: 'op',
      unitsPerRequest: session.calls.length,
      requests: { least: 2 * CLIENTS, most: 600 },
      run,
      limits: [{ name: 'bare handler', usesBare: true, run }],
    },
  ]
}
