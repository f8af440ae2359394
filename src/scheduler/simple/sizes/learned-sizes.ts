import { entryFor } from '../../../base/catch-all.js'
import { LruCache } from '../../../base/lru-cache.js'
import type { ExecuteResponse } from '../../../proto/generated/build.bazel.remote.execution.v2.js'
import type { PlatformProperty } from '../../../reapi/platform.js'
import type { ExecutionRequest } from '../../request.js'
import type { LearnedKind, LearnedOverview } from '../../scheduler.js'
import { type MatchKind, type Requirement, requirementOf } from '../state/requirement.js'
import { usageOf } from './usage.js'

export interface SizeSettings {
  /** `hint`: what would be asked for is told, and changes nothing. */
  readonly use: 'off' | 'hint' | 'on'
  /** Name of the property for memory in KiB; empty: memory is not learned. */
  readonly memory: string
  /** Name of the property for processors; empty: they are not learned. */
  readonly cpu: string
}

/** What an action needs by its past, in the units of the properties. */
export interface Need {
  readonly memoryKb: number | undefined
  readonly cpus: number | undefined
}

/** A request, and what it requires of a worker. */
export interface Sized {
  readonly request: ExecutionRequest
  readonly requirement: Requirement
  /** Undefined if nothing is known. */
  readonly need: Need | undefined
}

/** Of one target and mnemonic. */
interface Past {
  /** The newest last. */
  readonly peaksKb: number[]
  readonly cpus: number[]
  /** What attempts ask for since one was ended for its memory; 0 before. */
  raisedKb: number
}

/** Targets and mnemonics; the least recently used are forgotten. */
const MAX_KEYS = 10_000
const MAX_PART_CHARACTERS = 300
/** Runs that count. */
const RUNS = 8
/** Runs differ: a fifth more than the largest of the last ones. */
const MARGIN = 1.2
/** In KiB. Fine steps would make a requirement of its own for nearly every target. */
const STEP_KB = 64 * 1024
const KIB = 1024
/** Each raise doubles. */
const MAX_RAISES = 3

/**
 * What actions need, learned from their own past: the actions of one target and mnemonic, in one instance and scope. Only what
 * `supported_platform_properties` compares as `minimum` is used. Memory and processors are reserved for an action beyond what it
 * asks for. An action that was ended for its memory asks for twice as much, up to three times.
 */
export class LearnedSizes {
  readonly #settings: SizeSettings
  readonly #declared: ReadonlyMap<string, MatchKind>
  readonly #past = new LruCache<Past>(MAX_KEYS)

  constructor(settings: SizeSettings, declared: ReadonlyMap<string, MatchKind>) {
    this.#settings = settings
    this.#declared = declared
  }

  /** What an action requires. `canRun` says whether any worker offers so much: nothing is reserved that no worker has. */
  sized(request: ExecutionRequest, canRun: (requirement: Requirement) => boolean): Sized {
    const { use, memory } = this.#settings
    const past = use === 'off' ? undefined : this.#pastOf(request)
    const need = past && needOf(past)
    const own = { request, requirement: requirementOf(request.properties, this.#declared), need }
    if (past === undefined || need === undefined || use !== 'on') return own
    const asked = amountOf(request.properties, memory)
    const raisedKb = asked === undefined ? 0 : Math.min(past.raisedKb, asked * 2 ** MAX_RAISES)
    const raised = this.#with(request, { memoryKb: raisedKb || undefined, cpus: undefined })
    const larger = { ...request, properties: raised }
    const reserved = this.#with(larger, need)
    const requirement = requirementOf(reserved, this.#declared)
    if (canRun(requirement)) return { request: larger, requirement, need }
    const least = requirementOf(raised, this.#declared)
    return canRun(least) ? { request: larger, requirement: least, need } : own
  }

  /** A worker has run it. Returns what its next run needs by that; undefined if nothing was learned. */
  learn(request: ExecutionRequest, response: ExecuteResponse): Need | undefined {
    if (this.#settings.use === 'off') return undefined
    const key = keyOf(request)
    const usage = key === undefined ? undefined : usageOf(response)
    if (key === undefined || usage === undefined) return undefined
    const past = this.#past.get(key) ?? { peaksKb: [], cpus: [], raisedKb: 0 }
    if (usage.peakBytes > 0) note(past.peaksKb, Math.ceil(usage.peakBytes / KIB))
    if (usage.cpus !== undefined) note(past.cpus, usage.cpus)
    this.#past.set(key, past, 1)
    return needOf(past)
  }

  /** For operators. */
  overview(): LearnedOverview {
    const { use, memory, cpu } = this.#settings
    const isCompared = (name: string): boolean => name !== '' && entryFor(this.#declared, name) === 'minimum'
    const past = this.#past
    return {
      use,
      compared: [memory, cpu].filter(isCompared),
      kinds: {
        *[Symbol.iterator]() {
          for (const [key, one] of past.newestFirst()) yield kindOf(key, one)
        },
      },
    }
  }

  /**
   * The same action with twice the memory, if the response says that the kernel ended it at the limit that it asked for itself, and
   * not too often before. Its next runs begin with that.
   */
  afterEnd(request: ExecutionRequest, response: ExecuteResponse, raises: number): ExecutionRequest | undefined {
    const { use, memory } = this.#settings
    if (use !== 'on' || raises >= MAX_RAISES) return undefined
    const endedAtBytes = usageOf(response)?.endedAtBytes
    const asked = amountOf(request.properties, memory)
    if (asked === undefined || endedAtBytes !== asked * KIB) return undefined
    const memoryKb = asked * 2
    const key = keyOf(request)
    const past = key === undefined ? undefined : this.#past.get(key)
    if (past !== undefined) past.raisedKb = Math.max(past.raisedKb, memoryKb)
    return { ...request, properties: this.#with(request, { memoryKb, cpus: undefined }) }
  }

  #pastOf(request: ExecutionRequest): Past | undefined {
    const key = keyOf(request)
    return key === undefined ? undefined : this.#past.get(key)
  }

  #with({ properties }: Pick<ExecutionRequest, 'properties'>, { memoryKb, cpus }: Need): readonly PlatformProperty[] {
    const { memory, cpu } = this.#settings
    return this.#raised(this.#raised(properties, memory, memoryKb), cpu, cpus)
  }

  #raised(
    properties: readonly PlatformProperty[],
    name: string,
    amount: number | undefined,
  ): readonly PlatformProperty[] {
    if (amount === undefined || name === '' || entryFor(this.#declared, name) !== 'minimum') return properties
    if ((amountOf(properties, name) ?? 0) >= amount) return properties
    return [...properties.filter((property) => property.name !== name), { name, value: String(amount) }]
  }
}

/** The largest amount asked for by a property; undefined if none is. */
const amountOf = (properties: readonly PlatformProperty[], wanted: string): number | undefined => {
  const amounts = properties.filter(({ name, value }) => name === wanted && /^\d{1,15}$/.test(value))
  return amounts.length === 0 ? undefined : Math.max(...amounts.map(({ value }) => Number(value)))
}

const needOf = ({ peaksKb, cpus }: Past): Need => ({
  memoryKb: peaksKb.length === 0 ? undefined : Math.ceil((Math.max(...peaksKb) * MARGIN) / STEP_KB) * STEP_KB,
  cpus: cpus.length === 0 ? undefined : Math.max(1, Math.round(Math.max(...cpus))),
})

const kindOf = (key: string, { peaksKb, cpus, raisedKb }: Past): LearnedKind => {
  const [instance = '', scope, target, mnemonic] = JSON.parse(key) as readonly string[]
  const need = needOf({ peaksKb, cpus, raisedKb })
  return {
    instance,
    ...{ ...(scope && { scope }), ...(target && { target }), ...(mnemonic && { mnemonic }) },
    memory: { runs: peaksKb.length, mostBytes: Math.max(0, ...peaksKb) * KIB, nextBytes: (need.memoryKb ?? 0) * KIB },
    cpus: { runs: cpus.length, most: Math.max(0, ...cpus), next: need.cpus ?? 0 },
    raisedBytes: raisedKb * KIB,
  }
}

const note = (values: number[], value: number): void => {
  values.push(value)
  if (values.length > RUNS) values.shift()
}

/** Undefined for an action of which the client says neither. */
const keyOf = ({ instanceName, scope = '', target = '', mnemonic = '' }: ExecutionRequest): string | undefined => {
  if (target === '' && mnemonic === '') return undefined
  return JSON.stringify([instanceName, scope, target, mnemonic].map((part) => part.slice(0, MAX_PART_CHARACTERS)))
}
