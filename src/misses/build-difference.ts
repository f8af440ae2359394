import { Digest } from '../reapi/digest.js'
import type { RequestRecord } from '../rpc/request-records.js'
import { boundedMap, LANES } from '../work/bounded-map.js'
import type { Cause, ExplainedMiss } from './cause.js'
import { type Evidence, explain } from './explain.js'
import { History } from './history.js'

/** How the actions of one build differ from those of another, as far as the server remembers their requests. */
export interface BuildDifference {
  /** Actions that both requested. */
  readonly sameCount: number
  /** Actions of `now` that differ from their counterpart. */
  readonly different: readonly ExplainedMiss[]
  /** Actions of `now` without a counterpart that could be found. */
  readonly newOnes: readonly ExplainedMiss[]
  /** More actions of `now` than were compared. */
  readonly leftOutCount: number
}

/** `records`: the newest first, of one instance. */
export const compareBuilds = async (
  records: readonly RequestRecord[],
  { before, now }: { readonly before: string; readonly now: string },
  evidenceFor: (history: History) => Evidence,
  maxActions: number,
): Promise<BuildDifference> => {
  const ofNow = firstOfEach(records.filter(({ invocation }) => invocation === now))
  const ofBefore = firstOfEach(records.filter(({ invocation }) => invocation === before))
  const hadBefore = new Set(ofBefore.map(({ action }) => action))
  const changed = ofNow.filter(({ action }) => !hadBefore.has(action))
  const compared = changed.slice(0, maxActions)
  // Each action as if it were a miss after the other build.
  const asked = compared.map((record): RequestRecord => ({ ...record, outcome: 'miss', reason: 'absent' }))
  const history = new History(records[0]?.instance ?? '', [...asked, ...ofBefore])
  const evidence = evidenceFor(history)
  const explained = await boundedMap(asked, LANES, (record) => explain(record, evidence))
  const isDifferent = ({ cause }: { readonly cause: Cause }): boolean => cause.kind === 'different'
  return {
    sameCount: ofNow.length - changed.length,
    different: explained.filter(isDifferent),
    newOnes: explained.filter((one) => !isDifferent(one)),
    leftOutCount: changed.length - compared.length,
  }
}

const firstOfEach = (records: readonly RequestRecord[]): readonly RequestRecord[] => {
  const first = new Map<string, RequestRecord>()
  for (const record of records) if (Digest.ofKey(record.action) !== undefined) first.set(record.action, record)
  return [...first.values()]
}
