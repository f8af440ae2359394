import { describeRequirement, type Requirement } from '../state/requirement.js'
import type { Worker } from '../state/state.js'

/**
 * Explains why no worker can ever run an action: the requirement, and what the workers offer for each unmet
 * property. Workers that drain take no actions.
 */
export const explainMismatch = (requirement: Requirement, all: Iterable<Worker>): string => {
  const asked = `asked for ${describeRequirement(requirement)}`
  const known = [...all]
  const workers = known.filter((worker) => !worker.isDraining)
  const drainingCount = known.length - workers.length
  const draining = drainingCount === 1 ? '1 worker is draining' : `${drainingCount} workers are draining`
  if (workers.length === 0) return `${asked}; ${drainingCount === 0 ? 'no worker is connected' : draining}`
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
    if (offers(workers, name).size === 0) lacking.push(`${name} is offered by none`)
  const reason = lacking.length > 0 ? lacking.join(', ') : 'no single worker offers all of it'
  const besides = drainingCount === 0 ? '' : `; ${draining}`
  return `${asked}; of ${workers.length} connected worker${workers.length === 1 ? '' : 's'} ${reason}${besides}`
}

const offers = (workers: readonly Worker[], name: string): ReadonlySet<string> =>
  new Set(workers.flatMap((worker) => worker.offer.properties.get(name) ?? []))

const listed = (values: ReadonlySet<string>): string => {
  if (values.size === 0) return 'nothing'
  const shown = [...values].slice(0, 10)
  return values.size > shown.length ? `${shown.join(', ')}, and ${values.size - shown.length} more` : shown.join(', ')
}
