import type { HealthStatus } from '../../base/health.js'
import { counted } from '../../base/quantities.js'
import type { SimpleScheduler } from './machine.js'

/** Workers named; others are counted. */
const MAX_NAMED = 5

/**
 * What `/status` says of the queue. Workers that take no actions are named, without the reason: it may have what only operators should
 * read, and the page of workers has it.
 */
export const healthOf = (machine: SimpleScheduler): HealthStatus => {
  const { connected, running, queued, unmatched } = machine.workers
  const stranded = unmatched === 0 ? '' : `, ${unmatched} of them without a suitable worker`
  const busy = `${counted(running, 'attempt')} running, ${counted(queued, 'action')} queued`
  const out = outOfService(machine)
  const message = `${counted(connected, 'worker')} connected, ${busy}${stranded}${out}`
  const isFine = connected > 0 && unmatched === 0 && out === ''
  return { state: isFine ? 'Ok' : 'Warning', message }
}

const outOfService = (machine: SimpleScheduler): string => {
  const named: string[] = []
  let count = 0
  for (const { id, isConnected, standing } of machine.inspect().workers.all) {
    if (!isConnected || standing.state === undefined) continue
    count++
    if (named.length < MAX_NAMED) named.push(`${id} is ${standing.state === 'sick' ? 'sick' : 'set aside'}`)
  }
  if (count === 0) return ''
  const more = count > named.length ? `, and ${count - named.length} more` : ''
  return `; ${named.join(', ')}${more} (the page of workers says why)`
}
