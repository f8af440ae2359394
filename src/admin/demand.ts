import { StatusError } from '../base/status-error.js'
import type { PlatformDemand, Scheduler } from '../scheduler/scheduler.js'

/**
 * What waits and runs, for autoscalers: totals of the asked schedulers and properties, and each platform. `property=NAME=VALUE`,
 * also several times, leaves the platforms that ask for all of them; `scheduler=S` those of one scheduler. Throws UNAVAILABLE if
 * a queue is elsewhere and not known now: nobody should stop workers because of that.
 */
export const demandOf = (query: URLSearchParams, schedulers: ReadonlyMap<string, Scheduler>): object => {
  const asked = query.getAll('property').map(propertyOf)
  const platforms = [...schedulers]
    .filter(([name]) => name === (query.get('scheduler') ?? name))
    .flatMap(([scheduler, { operator, elsewhere }]) => {
      const overview = (operator ?? elsewhere)?.overview()
      const why = overview === undefined ? 'no server leads it' : overview.elsewhere?.trouble?.reason
      if (overview === undefined || why !== undefined)
        throw new StatusError('UNAVAILABLE', `the queue of scheduler ${scheduler} is not known now: ${why}`)
      return overview.demand.map((platform) => ({ scheduler, ...platform }))
    })
    .filter((platform) => asked.every((one) => has(platform, one)))
  return { ...totalOf(platforms), platforms: platforms.map(shown) }
}

const totalOf = (platforms: readonly PlatformDemand[]): object => {
  const total = { queued: 0, running: 0 }
  const sums = new Map<string, typeof total>()
  for (const { queued, running, amounts } of platforms) {
    add(total, { queued, running })
    for (const [name, amount] of amounts) {
      const sum = sums.get(name) ?? { queued: 0, running: 0 }
      add(sum, amount)
      sums.set(name, sum)
    }
  }
  return { ...total, amounts: Object.fromEntries(sums) }
}

const add = (sum: { queued: number; running: number }, more: Readonly<typeof sum>): void => {
  sum.queued += more.queued
  sum.running += more.running
}

const shown = ({ properties, amounts, ...counts }: PlatformDemand & { readonly scheduler: string }): object => ({
  ...counts,
  properties: properties.map(([name, value]) => ({ name, value })),
  amounts: Object.fromEntries(amounts),
})

type Property = readonly [name: string, value: string]

const has = ({ properties }: PlatformDemand, [name, value]: Property): boolean =>
  properties.some(([one, asked]) => one === name && asked === value)

const propertyOf = (text: string): Property => {
  const at = text.indexOf('=')
  if (at <= 0) throw new StatusError('INVALID_ARGUMENT', `property=${text}: expected property=NAME=VALUE`)
  return [text.slice(0, at), text.slice(at + 1)]
}
