import { checks } from '../../checks/all.js'
import { type Candidate, type CandidateSettings, lacks, openCandidate, servedServices } from '../../exam/candidate.js'
import { codec } from '../../proto/codec.js'
import type { Check } from '../../requirements/check.js'
import { type Result, runChecks } from '../../run/runner.js'
import { REQUEST_METADATA } from '../../wire/identity.js'
import type { Mutation } from '../mutation.js'
import { MutatingProxy } from '../proxy/proxy.js'
import { type FieldPath, fieldsIn } from './fields.js'
import { type Catalogue, mutationOf, type SeededFault } from './seeded.js'

const requestMetadataCodec = codec('build.bazel.remote.execution.v2.RequestMetadata')

/** What a run against a correct server saw: which checks had which field in which response, and how long each took. */
export interface Survey {
  readonly catalogue: Catalogue
  readonly rowsOf: ReadonlyMap<string, ReadonlySet<string>>
  readonly elapsedMs: ReadonlyMap<string, number>
}

/** How a fault fared: the row that saw it, or that none did, or that nothing came of it. */
export type Fate = { readonly kind: 'caught'; readonly by: string } | { readonly kind: 'escaped' | 'without effect' }

/** Half a minute of waiting for pings tells nothing of any field. */
const used = checks.filter(({ id }) => id !== 'GEN-09')
/** Checks tried at once before the next are: the first that objects is enough. */
const AT_ONCE = 8

const examined = async (candidate: Candidate, chosen: readonly Check[]): Promise<Result[]> =>
  runChecks(chosen, candidate, {
    concurrency: AT_ONCE,
    missing: lacks(candidate, await servedServices(candidate)),
    isAlive: () => Promise.resolve(true),
    onResult: () => {},
  })

export const survey = async (settings: CandidateSettings): Promise<Survey> => {
  const catalogue = new Map<string, Set<FieldPath>>()
  const rowsOf = new Map<string, Set<string>>()
  const watching: Mutation = {
    name: 'watched',
    breaks: 'Nothing.',
    caughtBy: [],
    tamper: () => ({
      method: 'every method',
      response: (message, { path, headers }) => {
        const method = path.slice(1)
        const header = headers[REQUEST_METADATA]
        if (header === undefined || Buffer.isBuffer(message)) return undefined
        for (const field of fieldsIn(message)) {
          catalogue.set(method, (catalogue.get(method) ?? new Set()).add(field))
          const row = rowIn(String(header))
          rowsOf.set(`${method} ${field}`, (rowsOf.get(`${method} ${field}`) ?? new Set()).add(row))
        }
        return undefined
      },
    }),
  }
  const proxy = await MutatingProxy.listen(settings.address, watching)
  const candidate = await openCandidate({ ...settings, address: proxy.address })
  const results = await examined(candidate, used)
  candidate.client.close()
  await proxy.close()
  return {
    catalogue: new Map([...catalogue].sort(byKey).map(([method, fields]) => [method, [...fields].sort()])),
    rowsOf,
    elapsedMs: new Map(results.map(({ requirement, elapsedMs }) => [requirement.id, elapsedMs])),
  }
}

const byKey = ([a]: readonly [string, unknown], [b]: readonly [string, unknown]): number => (a < b ? -1 : 1)

const rowIn = (header: string): string => {
  try {
    return requestMetadataCodec.decode(Buffer.from(header, 'base64')).actionId
  } catch {
    // A check that sends such a header sends others too.
    return ''
  }
}

/** Runs the checks that meet the field, quick ones first, until one objects. */
export const fateOf = async (fault: SeededFault, settings: CandidateSettings, seen: Survey): Promise<Fate> => {
  let hadEffect = false
  const mutation = mutationOf(fault, () => {
    hadEffect = true
  })
  const proxy = await MutatingProxy.listen(settings.address, mutation)
  let candidate: Candidate | undefined
  try {
    candidate = await openCandidate({ ...settings, address: proxy.address })
    for (const chosen of batches(fault, seen)) {
      const results = await examined(candidate, chosen)
      const caught = results.find(({ verdict }) => verdict === 'fail' || verdict === 'warn')
      if (caught !== undefined) return { kind: 'caught', by: caught.requirement.id }
    }
    return { kind: hadEffect ? 'escaped' : 'without effect' }
  } catch {
    return { kind: 'caught', by: 'GetCapabilities at the start' }
  } finally {
    candidate?.client.close()
    await proxy.close()
  }
}

const batches = ({ method, path }: SeededFault, { rowsOf, elapsedMs }: Survey): Check[][] => {
  const rows = rowsOf.get(`${method} ${path}`) ?? new Set()
  // What the capabilities say decides what every check asks.
  const isForAll = rows.has('capabilities')
  const cost = (check: Check): number => (isForAll && rows.has(check.id) ? 0 : (elapsedMs.get(check.id) ?? 0))
  const chosen = used.filter(({ id }) => isForAll || rows.has(id)).sort((a, b) => cost(a) - cost(b))
  return Array.from({ length: Math.ceil(chosen.length / AT_ONCE) }, (_, at) =>
    chosen.slice(at * AT_ONCE, (at + 1) * AT_ONCE),
  )
}
