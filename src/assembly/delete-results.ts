import type { DeletedResults, DeleteResults, WantedResults } from '../admin/process-facts.js'
import { StatusError } from '../base/status-error.js'
import { missingOf } from '../blobs/store.js'
import type { StoresOf } from '../pages/actions/stores.js'
import { mappedInTurns } from '../pages/parts/in-turns.js'
import { Digest } from '../reapi/digest.js'
import { digestFunctions } from '../reapi/digest-function.js'
import { internalCall } from '../rpc/call.js'
import type { RequestRecord, RequestRecords } from '../rpc/request-records.js'
import { Scope } from '../rpc/scope.js'
import type { Scopes } from '../store/scoped/scopes.js'
import { boundedMap, LANES } from '../work/bounded-map.js'

/**
 * Deletes results from the action cache of an instance. Those of a target or a build are found by the requests that the
 * server remembers.
 */
export const deleteResults =
  (storesOf: StoresOf, records: RequestRecords, scopesOf: (instance: string) => readonly Scopes[]): DeleteResults =>
  async (wanted): Promise<DeletedResults> => {
    const { instance, by, value, isDryRun } = wanted
    const results = storesOf(instance)?.results
    if (results === undefined)
      throw new StatusError('NOT_FOUND', `instance ${JSON.stringify(instance)} has no action cache on this server`)
    if (by === 'scope') return deleteScope(value, scopesOf(instance), wanted)
    if (by === 'caller') {
      if (!isDryRun) for (const { revoked } of scopesOf(instance)) await revoked.add(value, instance)
      return { deleted: [value], absent: [] }
    }
    const keys = await keysOf(wanted, records)
    const call = internalCall({ instanceName: instance })
    const absent = new Set((await missingOf(results, keys, call)).map(({ key }) => key))
    const present = keys.filter(({ key }) => !absent.has(key))
    if (!isDryRun) await boundedMap(present, LANES, (key) => results.remove(key, 'unwanted', call))
    return { deleted: present.map(({ key }) => key), absent: [...absent] }
  }

/** What a scope keeps in every action cache of the instance. */
const deleteScope = async (
  name: string,
  all: readonly Scopes[],
  { instance, isDryRun }: WantedResults,
): Promise<DeletedResults> => {
  const scope = Scope.named(name)
  const known = scope === undefined ? [] : all.map((scopes) => scopes.of(instance, scope))
  const generations = await Promise.all(known.map((one) => one.generation()))
  const kept = known.filter((_, at) => generations[at] !== undefined)
  if (!isDryRun) for (const one of kept) await one.renew()
  return kept.length === 0 ? { deleted: [], absent: [name] } : { deleted: [name], absent: [] }
}

const keysOf = async (wanted: WantedResults, records: RequestRecords): Promise<readonly Digest[]> => {
  if (wanted.by !== 'action') return rememberedKeys(wanted, records)
  const digest = Digest.ofKey(wanted.value)
  if (digest !== undefined && FUNCTIONS.has(digest.function)) return [digest.asKey()]
  throw new StatusError(
    'INVALID_ARGUMENT',
    `action=${wanted.value.slice(0, MAX_SHOWN)}: expected HASH-SIZE of an Action`,
  )
}

/** Keys of other kinds are no actions. */
const FUNCTIONS: ReadonlySet<unknown> = new Set(Object.values(digestFunctions))

const MAX_SHOWN = 200

const rememberedKeys = async ({ instance, by, value }: WantedResults, records: RequestRecords) => {
  const isWanted = (record: RequestRecord): boolean =>
    record.instance === instance && (by === 'target' ? record.target : record.invocation) === value
  // A request over HTTP may name its Action without a size: another one about it has the whole digest.
  const digests = await mappedInTurns(records, (record) => (isWanted(record) ? Digest.ofKey(record.action) : undefined))
  const keys = new Map(digests.map((digest) => [digest.key, digest.asKey()]))
  if (keys.size > 0) return [...keys.values()]
  throw new StatusError(
    'NOT_FOUND',
    `no request of ${by} ${JSON.stringify(value.slice(0, MAX_SHOWN))} is remembered: this server knows its last ${records.added - records.oldest} requests about actions; expected one of them, or the digest of an action`,
  )
}
