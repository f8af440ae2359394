import { type ApiVersion, type Candidate, isAtMost, lowestVersion } from '../exam/candidate.js'
import type { Check, Requirement } from '../requirements/check.js'
import { Replay } from './replay.js'
import { readSessions, type Session } from './session.js'

const DEADLINE_MS = 45_000

/** Every session, by the id of its row. */
export const sessions: readonly Session[] = readSessions()

const requirementOf = ({ id, level, summary, client, origin }: Session): Requirement => ({
  id,
  section: 'Sessions',
  rpc: 'session',
  level,
  requirement: `${client}${origin === 'written' ? ', written' : ''}: ${summary}`,
  expected:
    origin === 'recorded' ? 'the answers that the client got in the recording' : 'the known needs of the client',
  source: origin === 'recorded' ? `recorded from ${client}` : `no text; known behaviour of ${client}`,
})

/** A session as a check: the finding is the first answer that the client would fail on. */
export const checkOf = (session: Session): Check => ({
  id: session.id,
  requirement: requirementOf(session),
  sends: `${session.calls.length} calls of ${session.client} (${session.origin})`,
  needs: session.needs,
  deadlineMs: DEADLINE_MS,
  run: async (exam) => {
    const refusal = refusalOf(session, exam.candidate)
    if (refusal !== undefined) exam.notApplicable(refusal)
    const replay = new Replay(session, exam)
    exam.closing.addEventListener('abort', () => replay.stop())
    await replay.run()
  },
})

/** The API versions that a client speaks, if it compares them with the server's and refuses to start. */
const SPOKEN: readonly { readonly client: RegExp; readonly low: ApiVersion; readonly high: ApiVersion }[] = [
  { client: /^Bazel [1-6]\b/, low: { major: 2, minor: 0 }, high: { major: 2, minor: 0 } },
  { client: /^Bazel/, low: { major: 2, minor: 0 }, high: { major: 2, minor: 1 } },
]

/** Why this client would not talk to the candidate. */
const refusalOf = ({ client }: Session, candidate: Candidate): string | undefined => {
  const spoken = SPOKEN.find((each) => each.client.test(client))
  const lowest = lowestVersion(candidate)
  const highest = candidate.capabilities.highApiVersion ?? lowest
  if (spoken === undefined || (isAtMost(lowest, spoken.high) && isAtMost(spoken.low, highest))) return undefined
  const shown = ({ major, minor }: ApiVersion): string => `${major}.${minor}`
  return `${client} rejects a server that announces ${shown(lowest)} to ${shown(highest)}: it speaks up to ${shown(spoken.high)}`
}
