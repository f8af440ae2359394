import { type ApiVersion, type Candidate, isAtMost, lowestVersion, type Need } from '../candidate.js'
import type { Requirement } from '../check.js'
import { Divergence } from '../finding.js'
import type { Result, Verdict } from '../runner.js'
import { Replay } from './replay.js'
import { readSessions, type Session } from './session.js'

export interface SessionSettings {
  /** Why the candidate cannot be asked for something, or undefined when it can. */
  missing(need: Need): string | undefined
  isSelected(id: string): boolean
  onResult(result: Result): void
}

const DEADLINE_MS = 45_000
const LANES = 4

/** Every session there is, by the id its result has. */
export const sessions: readonly Session[] = readSessions()

const requirementOf = ({ id, level, summary, client, origin }: Session): Requirement => ({
  id,
  section: 'Sessions',
  rpc: 'session',
  level,
  requirement: `${client}${origin === 'written' ? ', written' : ''}: ${summary}`,
  expected:
    origin === 'recorded' ? 'what the client was answered when it was recorded' : 'what the client is known to need',
  source: origin === 'recorded' ? `recorded from ${client}` : `no text; what is known of ${client}`,
})

/** Replays every selected session, and judges each as a check is judged. Never throws for what a server does. */
export const sessionResults = async (candidate: Candidate, settings: SessionSettings): Promise<Result[]> => {
  const chosen = sessions.filter(({ id }) => settings.isSelected(id))
  const results = new Array<Result>(chosen.length)
  const queue = chosen.map((session, index) => ({ session, index }))
  const lane = async (): Promise<void> => {
    for (let next = queue.shift(); next !== undefined; next = queue.shift()) {
      const result = await judge(next.session, candidate, settings)
      results[next.index] = result
      settings.onResult(result)
    }
  }
  await Promise.all(Array.from({ length: LANES }, lane))
  return results
}

/** Which versions of the API a client speaks, where it compares them with the server's and refuses to start. */
const SPOKEN: readonly { readonly client: RegExp; readonly low: ApiVersion; readonly high: ApiVersion }[] = [
  { client: /^Bazel [1-6]\b/, low: { major: 2, minor: 0 }, high: { major: 2, minor: 0 } },
  { client: /^Bazel/, low: { major: 2, minor: 0 }, high: { major: 2, minor: 1 } },
]

/** Why this client would not talk to the candidate at all. */
const refusalOf = ({ client }: Session, candidate: Candidate): string | undefined => {
  const spoken = SPOKEN.find((each) => each.client.test(client))
  const lowest = lowestVersion(candidate)
  const highest = candidate.capabilities.highApiVersion ?? lowest
  if (spoken === undefined || (isAtMost(lowest, spoken.high) && isAtMost(spoken.low, highest))) return undefined
  const shown = ({ major, minor }: ApiVersion): string => `${major}.${minor}`
  return `${client} refuses a server that announces ${shown(lowest)} to ${shown(highest)}: it speaks up to ${shown(spoken.high)}`
}

const judge = async (session: Session, candidate: Candidate, settings: SessionSettings): Promise<Result> => {
  const startMs = performance.now()
  const replay = new Replay(session, candidate)
  const give = (verdict: Verdict, reason: string): Result => ({
    requirement: requirementOf(session),
    sends: `${session.calls.length} calls of ${session.client} (${session.origin})`,
    verdict,
    reason,
    observations: {},
    readings: [],
    transcript: replay.transcript,
    elapsedMs: performance.now() - startMs,
  })
  const lacking =
    session.needs.map((need) => settings.missing(need)).find((why) => why !== undefined) ??
    refusalOf(session, candidate)
  if (lacking !== undefined) return give('skip', lacking)
  try {
    await withDeadline(replay, candidate.patience.scaledMs(DEADLINE_MS))
    return give('pass', '')
  } catch (error) {
    if (error instanceof Divergence) return give(session.level === 'must' ? 'fail' : 'warn', error.message)
    return give('broken', error instanceof Error ? `${error.name}: ${error.message}` : String(error))
  }
}

const withDeadline = async (replay: Replay, deadlineMs: number): Promise<void> => {
  let timer: NodeJS.Timeout | undefined
  const late = new Promise<never>((_, reject) => {
    timer = setTimeout(() => {
      replay.stop()
      reject(new Divergence(`an end of the session within ${deadlineMs} ms`, 'none'))
    }, deadlineMs)
  })
  const work = replay.run()
  // After the deadline nobody is left to hear of the abandoned run.
  work.catch(() => {})
  try {
    await Promise.race([work, late])
  } finally {
    clearTimeout(timer)
  }
}
