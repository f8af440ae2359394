import { describeRequirement, type Requirement } from '../state/requirement.js'
import type { Worker } from '../state/state.js'
import { couldRun } from '../workers/pool.js'

/** Workers listed by name; the rest is only counted. */
const MAX_SHOWN = 3

/**
 * Explains why no worker can ever run an action: the requirement, and what the workers offer for each unmet
 * property, or why those that offer all of it take no actions. Workers that drain take none.
 */
export const explainMismatch = (requirement: Requirement, all: Iterable<Worker>): string => {
  const { needsImages } = requirement
  const asked = `asked for ${describeRequirement(requirement)}`
  const known = [...all]
  const workers = known.filter((worker) => !worker.isDraining)
  const drainingCount = known.length - workers.length
  const draining = drainingCount === 1 ? '1 worker is draining' : `${drainingCount} workers are draining`
  if (workers.length === 0) return `${asked}; ${drainingCount === 0 ? 'no worker is connected' : draining}`
  const able = ableTo(requirement, workers)
  if (able.length > 0) return `${asked}; every worker that could run it is sick or set aside: ${troubles(able)}`
  const lacking: string[] = []
  for (const { name, value } of requirement.exact) {
    const offered = offers(workers, name)
    if (!offered.has(value)) lacking.push(`${name}=${value} is offered by none (${name}: ${listed(offered)})`)
  }
  for (const [name, amount] of requirement.minimum) {
    const most = Math.max(...workers.map((worker) => worker.total.get(name) ?? -1))
    if (most < amount) lacking.push(`${name}>=${amount} is offered by none (${name}: ${most < 0 ? 'nothing' : most})`)
  }
  for (const name of requirement.present)
    if (offers(workers, name).size === 0)
      lacking.push(needsImages ? 'none runs actions in images (container_images)' : `${name} is offered by none`)
  const reason = lacking.length > 0 ? lacking.join(', ') : 'no single worker offers all of it'
  const besides = drainingCount === 0 ? '' : `; ${draining}`
  return `${asked}; of ${workers.length} connected worker${workers.length === 1 ? '' : 's'} ${reason}${besides}`
}

/** Those that offer all of it and do not drain, whether they take actions now or not. */
export const ableTo = (requirement: Requirement, workers: Iterable<Worker>): readonly Worker[] =>
  [...workers].filter(
    ({ isDraining, offer: { properties }, total }) => !isDraining && couldRun({ properties, total }, requirement),
  )

const troubles = (workers: readonly Worker[]): string => {
  const shown = workers.slice(0, MAX_SHOWN).map(({ id, standing }) => `${id} is ${standing.trouble}`)
  const more = workers.length - shown.length
  return more === 0 ? shown.join(', ') : `${shown.join(', ')}, and ${more} more`
}

const offers = (workers: readonly Worker[], name: string): ReadonlySet<string> =>
  new Set(workers.flatMap((worker) => worker.offer.properties.get(name) ?? []))

const listed = (values: ReadonlySet<string>): string => {
  if (values.size === 0) return 'nothing'
  const shown = [...values].slice(0, 10)
  return values.size > shown.length ? `${shown.join(', ')}, and ${values.size - shown.length} more` : shown.join(', ')
}
