import { checks } from '../../checks/all.js'
import { type CandidateSettings, lacks, openCandidate, servedServices } from '../../exam/candidate.js'
import { isObjection } from '../../run/result.js'
import { type Result, runChecks } from '../../run/runner.js'
import type { Mutation } from '../mutation.js'
import { MutatingProxy } from '../proxy/proxy.js'
import { rowsFor } from './carriers.js'
import type { Cell } from './cell.js'
import { Effect, mutationOf } from './fault.js'

/** What came of a cell: the row that objected first and its verdict, or why none did. */
export interface Fate {
  readonly row: string | undefined
  readonly verdict: Result['verdict'] | 'escaped' | 'without effect'
}

/** Runs rows one after the other through a proxy with this mutation, until one objects. */
const examined = async (
  settings: CandidateSettings,
  mutation: Mutation,
  rows: readonly string[],
): Promise<Result | undefined> => {
  const proxy = await MutatingProxy.listen(settings.address, mutation)
  try {
    const candidate = await openCandidate({ ...settings, address: proxy.address })
    try {
      const missing = lacks(candidate, await servedServices(candidate))
      for (const check of rows.flatMap((id) => checks.filter((each) => each.id === id))) {
        const [result] = await runChecks([check], candidate, {
          concurrency: 1,
          missing,
          isAlive: () => Promise.resolve(true),
          onResult: () => {},
        })
        if (result !== undefined && isObjection(result)) return result
      }
      return undefined
    } finally {
      candidate.client.close()
    }
  } finally {
    await proxy.close()
  }
}

/** Tries a cell with these rows, by default all that look at its carrier. */
export const fateOf = async (
  cell: Cell,
  settings: CandidateSettings,
  rows: readonly string[] = rowsFor(cell.carrier, cell.place.path),
): Promise<Fate> => {
  const result = await examined(settings, mutationOf(cell), rows)
  if (result !== undefined) return { row: result.requirement.id, verdict: result.verdict }
  // Only now is it worth the time to look at each message.
  const effect = new Effect()
  await examined(settings, mutationOf(cell, effect), rows.slice(0, 2))
  return { row: undefined, verdict: effect.changed === 0 ? 'without effect' : 'escaped' }
}

/** The rows that object to the server itself, which then cannot judge a fault of it. */
export const objectionsTo = async (settings: CandidateSettings, rows: readonly string[]): Promise<string[]> => {
  const unchanged: Mutation = { name: 'unchanged', breaks: 'Nothing.', caughtBy: [], tamper: () => [] }
  const objections: string[] = []
  for (const row of rows) {
    const result = await examined(settings, unchanged, [row])
    if (result !== undefined) objections.push(`${row}: ${result.reason}`)
  }
  return objections
}
