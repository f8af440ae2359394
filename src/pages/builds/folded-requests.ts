import { OUTCOMES, type RequestRecord } from '../../rpc/request-records.js'
import { mappedInTurns } from '../parts/in-turns.js'

/** What a build asked about one action, and what came of it. */
export interface FoldedRequests {
  readonly action: string
  readonly instance: string
  readonly invocation: string
  readonly target: string
  readonly mnemonic: string
  /** In the order in which they came, each once. */
  readonly outcomes: readonly RequestRecord['outcome'][]
  /** Of the last that has one, but for `absent`, which says no more than `miss`. */
  readonly reason: string
  /** Of the result. */
  readonly sizeBytes: number | undefined
  /** Of the last. */
  readonly timeMs: number
  readonly count: number
}

const ABSENT = 'absent'

/** One for each action of `records`, which are the newest first. Yields the event loop. */
export const folded = async (records: readonly RequestRecord[]): Promise<FoldedRequests[]> => {
  const byAction = new Map<string, RequestRecord[]>()
  await mappedInTurns(records, (record) => {
    const key = `${record.instance}\0${record.action}`
    const same = byAction.get(key)
    if (same === undefined) byAction.set(key, [record])
    else same.push(record)
    return undefined
  })
  return mappedInTurns(byAction.values(), foldedOf)
}

const foldedOf = (same: readonly RequestRecord[]): FoldedRequests | undefined => {
  const [last] = same
  if (last === undefined) return undefined
  // One client may say less than another about the same action.
  const said = (of: (record: RequestRecord) => string): string => same.map(of).find((text) => text !== '') ?? ''
  const reasons = same.map(({ reason, output }) => [reason, output].filter(Boolean).join(': '))
  return {
    ...{ action: last.action, instance: last.instance, timeMs: last.timeMs, count: same.length },
    invocation: said(({ invocation }) => invocation),
    target: said(({ target }) => target),
    mnemonic: said(({ mnemonic }) => mnemonic),
    outcomes: [...new Set(same.map(({ outcome }) => outcome).reverse())],
    reason: reasons.find((reason) => reason !== '' && reason !== ABSENT) ?? '',
    sizeBytes: same.find(({ sizeBytes }) => sizeBytes !== undefined)?.sizeBytes,
  }
}

/** For the order of rows: the worst first. */
export const rankOf = ({ outcomes }: FoldedRequests): number =>
  Math.max(...outcomes.map((outcome) => OUTCOMES.indexOf(outcome)))
