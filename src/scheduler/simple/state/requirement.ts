import { CATCH_ALL, entryFor } from '../../../base/catch-all.js'
import { isStatus, StatusError } from '../../../base/status-error.js'
import { IMAGE_PROPERTIES, isNoImage } from '../../../reapi/container-image.js'
import type { PlatformProperty } from '../../../reapi/platform.js'
import type { WorkerOffer } from '../../request.js'

/**
 * How a declared property is matched. `exact`: the worker offers the requested value. `minimum`: the worker
 * has at least that amount left, which is reserved while the command runs. `priority`: the worker offers the
 * property with any value. `ignore`: not matched. All properties are sent to the worker. `*` declares the
 * kind of properties that are not declared by name.
 */
export type MatchKind = 'exact' | 'minimum' | 'priority' | 'ignore'

/**
 * Properties that clients add by themselves to tell which persistent worker an action could use: Bazel's
 * `--experimental_remote_mark_tool_inputs`. They say how an action may run, not where: unless a configuration lists them by
 * name, no scheduler refuses or matches them. They are passed on like every property.
 */
const HINTS = new Set(['persistentWorkerKey', 'persistentWorkerProtocol'])

const OF_IMAGES: ReadonlySet<string> = new Set(IMAGE_PROPERTIES)

/**
 * Whether a property names an image that only workers with `container_images` can use: `*` lets it pass, and the configuration does
 * not say by name how it is matched.
 */
const isImageNeeded = ({ name, value }: PlatformProperty, declared: ReadonlyMap<string, MatchKind>): boolean =>
  OF_IMAGES.has(name) && !isNoImage(value) && !declared.has(name) && declared.get(CATCH_ALL) === 'ignore'

/** The name by which workers that run actions in images are found. */
const [IMAGES] = IMAGE_PROPERTIES
const ANY_IMAGE = 'any image'

/** The properties of a worker as they are matched: one that runs actions in images offers any. */
export const matchedProperties = (
  { properties, runsImages = false }: WorkerOffer,
  declared: ReadonlyMap<string, MatchKind>,
): WorkerOffer['properties'] => {
  if (!runsImages || entryFor(declared, IMAGES) === 'minimum') return properties
  return new Map([...properties, [IMAGES, [...(properties.get(IMAGES) ?? []), ANY_IMAGE]]])
}

/** What an action requires of a worker. Actions of equal `signature` can run on exactly the same workers. */
export interface Requirement {
  readonly signature: string
  readonly exact: readonly PlatformProperty[]
  /** The largest requested amount of each name. */
  readonly minimum: ReadonlyMap<string, number>
  /** Names that must be offered with any value. */
  readonly present: readonly string[]
  /** Only workers that run actions in images can run it. */
  readonly needsImages: boolean
}

/**
 * Sorts an action's properties by their declared kinds. A property that occurs several times must match each
 * time. Throws INVALID_ARGUMENT for an undeclared property, and for a `minimum` value that is no whole
 * number.
 */
export const requirementOf = (
  properties: readonly PlatformProperty[],
  declared: ReadonlyMap<string, MatchKind>,
): Requirement => {
  const exact = new Map<string, PlatformProperty>()
  const minimum = new Map<string, number>()
  const present = new Set<string>()
  let needsImages = false
  for (const { name, value } of properties) {
    if (HINTS.has(name) && !declared.has(name)) continue
    const kind = entryFor(declared, name)
    if (kind === undefined) throw undeclared(name, declared)
    if (kind === 'exact') exact.set(JSON.stringify([name, value]), { name, value })
    if (kind === 'minimum') minimum.set(name, Math.max(minimum.get(name) ?? 0, amountOf(name, value)))
    if (kind === 'priority') present.add(name)
    if (isImageNeeded({ name, value }, declared)) {
      needsImages = true
      present.add(IMAGES)
    }
  }
  const parts = [[...exact.keys()].sort(), [...minimum].sort(([a], [b]) => (a < b ? -1 : 1)), [...present].sort()]
  return { signature: JSON.stringify(parts), exact: [...exact.values()], minimum, present: [...present], needsImages }
}

/** The signature without the amounts of `minimum` properties. */
export const withoutAmounts = ({ exact, minimum, present }: Requirement): string => {
  const keys = exact.map(({ name, value }) => JSON.stringify([name, value]))
  return JSON.stringify([keys.sort(), [...minimum.keys()].sort(), [...present].sort()])
}

/** The same for an adopted attempt; undefined if the properties no longer match the declared ones. */
export const requirementIfAny = (...asked: Parameters<typeof requirementOf>): Requirement | undefined => {
  try {
    return requirementOf(...asked)
  } catch (error) {
    if (isStatus(error, 'INVALID_ARGUMENT')) return undefined
    throw error
  }
}

/** Parses a `minimum` property's value. Throws INVALID_ARGUMENT unless it is a whole number up to 2^53-1. */
export const amountOf = (name: string, value: string): number => {
  const amount = /^\d{1,16}$/.test(value) ? Number(value) : Number.NaN
  if (Number.isSafeInteger(amount)) return amount
  const found = JSON.stringify(value.slice(0, 100))
  const message = `platform property ${name}: ${found} is not valid, expected a whole number (its match kind is minimum)`
  throw new StatusError('INVALID_ARGUMENT', message)
}

/** The requirement in messages, as `name=value` and `name>=amount`. */
export const describeRequirement = ({ exact, minimum, present }: Requirement): string => {
  const parts = [
    ...exact.map(({ name, value }) => `${name}=${value}`),
    ...[...minimum].map(([name, amount]) => `${name}>=${amount}`),
    ...present.map((name) => `${name}=(any)`),
  ]
  return parts.length === 0 ? 'nothing in particular' : parts.join(', ')
}

const undeclared = (name: string, declared: ReadonlyMap<string, MatchKind>): StatusError => {
  const names = [...declared.keys()].join(', ')
  const expected = names === '' ? 'this scheduler declares none' : `expected one of ${names}`
  const message = `platform property ${JSON.stringify(name.slice(0, 100))} is not supported here, ${expected}`
  return new StatusError('INVALID_ARGUMENT', `${message} (supported_platform_properties)`)
}
