import { entryFor } from '../../../base/catch-all.js'
import { isStatus, StatusError } from '../../../base/status-error.js'
import type { PlatformProperty } from '../../../reapi/platform.js'

/**
 * How a declared property is matched. `exact`: the worker offers the value asked. `minimum`: the worker has at least
 * that much left; it is reserved while the action runs. `priority`: the worker offers the property, with any value.
 * `ignore`: never looked at. Every property, whatever its kind, is passed on to the worker. A property that is not declared is matched as `*` says.
 */
export type MatchKind = 'exact' | 'minimum' | 'priority' | 'ignore'

/** What an action needs of a worker. Actions of equal `signature` can run on exactly the same workers. */
export interface Requirement {
  readonly signature: string
  readonly exact: readonly PlatformProperty[]
  /** The largest amount asked for under each name. */
  readonly minimum: ReadonlyMap<string, number>
  /** Names that must be offered with whatever value. */
  readonly present: readonly string[]
}

/**
 * Sorts an action's properties by their declared kinds. A property asked for several times must hold every time.
 * INVALID_ARGUMENT names a property that is not declared, and a `minimum` that is no whole number.
 */
export const requirementOf = (
  properties: readonly PlatformProperty[],
  declared: ReadonlyMap<string, MatchKind>,
): Requirement => {
  const exact = new Map<string, PlatformProperty>()
  const minimum = new Map<string, number>()
  const present = new Set<string>()
  for (const { name, value } of properties) {
    const kind = entryFor(declared, name)
    if (kind === undefined) throw undeclared(name, declared)
    if (kind === 'exact') exact.set(JSON.stringify([name, value]), { name, value })
    if (kind === 'minimum') minimum.set(name, Math.max(minimum.get(name) ?? 0, amountOf(name, value)))
    if (kind === 'priority') present.add(name)
  }
  const parts = [[...exact.keys()].sort(), [...minimum].sort(([a], [b]) => (a < b ? -1 : 1)), [...present].sort()]
  return { signature: JSON.stringify(parts), exact: [...exact.values()], minimum, present: [...present] }
}

/** The same for properties that were right once; undefined when they can be matched no more. */
export const requirementIfAny = (...asked: Parameters<typeof requirementOf>): Requirement | undefined => {
  try {
    return requirementOf(...asked)
  } catch (error) {
    if (isStatus(error, 'INVALID_ARGUMENT')) return undefined
    throw error
  }
}

/** A `minimum` property's value. INVALID_ARGUMENT when it is no whole number up to 2^53-1. */
export const amountOf = (name: string, value: string): number => {
  const amount = /^\d{1,16}$/.test(value) ? Number(value) : Number.NaN
  if (Number.isSafeInteger(amount)) return amount
  const found = JSON.stringify(value.slice(0, 100))
  const message = `platform property ${name}: ${found} is not valid, expected a whole number (its match kind is minimum)`
  throw new StatusError('INVALID_ARGUMENT', message)
}

/** For messages: what a requirement asks, as `name=value` and `name>=amount`. */
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
