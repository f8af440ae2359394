import { type Candidate, type CandidateSettings, lacks, openCandidate, servedServices } from '../../exam/candidate.js'
import type { Check } from '../../requirements/check.js'
import { isObjection, type Result } from '../../run/result.js'
import { MutatingProxy } from '../proxy/proxy.js'
import { Effect, mutationOf, type SeededFault } from './seeded.js'
import { AT_THE_START, examined, judges, type Survey } from './survey.js'

/**
 * How a fault fared. Whether it changed what an answer says is decided by the rules of `meaning.ts` on the answers as they pass,
 * and not by what the checks make of it: `objection` names a row that objects to what means nothing.
 */
export interface Fate {
  readonly kind: 'caught' | 'escaped' | 'same meaning' | 'without effect'
  readonly by?: string
  readonly rules?: readonly string[]
  readonly objection?: string
}

const GET_CAPABILITIES = 'build.bazel.remote.execution.v2.Capabilities/GetCapabilities'
/** Rows tried at once before the next are: the first that objects is enough. */
const AT_ONCE = 8
/** Below this rows run in the order of the table, so that the same row reports a fault in every run. */
const QUICK_MS = 2_000

/** Runs the rows that meet the field, quick ones first, until one objects. Throws when the server itself is gone. */
export const fateOf = async (fault: SeededFault, settings: CandidateSettings, seen: Survey): Promise<Fate> => {
  const effect = new Effect()
  const proxy = await MutatingProxy.listen(settings.address, mutationOf(fault, effect))
  const clean = await openCandidate(settings)
  try {
    const by = await objector(fault, { ...settings, address: proxy.address }, clean, seen)
    const rules = [...effect.rules].map(({ name }) => name)
    if (effect.changedMeaning) return by === undefined ? { kind: 'escaped' } : { kind: 'caught', by }
    if (rules.length === 0) return { kind: 'without effect' }
    return { kind: 'same meaning', rules, ...(by === undefined ? {} : { objection: by }) }
  } finally {
    clean.client.close()
    await proxy.close()
  }
}

const objector = async (
  fault: SeededFault,
  settings: CandidateSettings,
  clean: Candidate,
  seen: Survey,
): Promise<string | undefined> => {
  const candidate = await openCandidate(settings).catch((error: unknown) => {
    if (fault.method === GET_CAPABILITIES) return undefined
    throw error
  })
  if (candidate === undefined) return AT_THE_START
  try {
    const lacking = lacks(candidate, await servedServices(candidate))
    for (const chosen of batches(fault, seen)) {
      for (const result of (await examined(candidate, chosen, lacking)).filter(isObjection)) {
        if (await isContent(clean, chosen, result)) return result.requirement.id
      }
    }
    return undefined
  } finally {
    candidate.client.close()
  }
}

/** Whether the same row has nothing to say of the server itself: else it was the machine that it objected to. */
const isContent = async (clean: Candidate, chosen: readonly Check[], { requirement }: Result): Promise<boolean> => {
  const check = chosen.filter(({ id }) => id === requirement.id)
  const [again] = await examined(clean, check, lacks(clean, await servedServices(clean)))
  return again !== undefined && !isObjection(again)
}

const batches = ({ method, path }: SeededFault, { rowsOf, elapsedMs }: Survey): Check[][] => {
  const rows = rowsOf.get(`${method} ${path}`) ?? new Set()
  // What the capabilities say decides what every row asks; but those that ask for them know best.
  const others = rows.has(AT_THE_START) ? judges.filter((check) => !rows.has(check.id) && isLight(check)) : []
  const cost = ({ id }: Check): number => Math.floor((elapsedMs.get(id) ?? 0) / QUICK_MS)
  const own = judges.filter(({ id }) => rows.has(id)).sort((a, b) => cost(a) - cost(b))
  const chosen = [...own, ...others]
  return Array.from({ length: Math.ceil(chosen.length / AT_ONCE) }, (_, at) =>
    chosen.slice(at * AT_ONCE, (at + 1) * AT_ONCE),
  )
}

const isLight = (check: Check): boolean => !check.isBulky && !check.isAlone && check.waitsFor === undefined
