import { counted, countText, sizeText, timeText } from '../../base/quantities.js'
import type { Command } from '../command.js'
import { ask, noWords, OPERATOR_DETAILS, OPERATOR_OPTIONS, printedAsJson } from './ask.js'
import { blocks, cell, table } from './table.js'

interface Status {
  readonly version: string
  readonly startedAt: string
  readonly at: string
  readonly health: string
  readonly reasons: readonly string[]
  readonly stores: readonly {
    readonly name: string
    readonly sizeBytes: number
    readonly maxBytes?: number
    readonly blobs: number
  }[]
  readonly results: Readonly<Record<string, number>>
  readonly builds: { readonly kept: number; readonly running: number }
  readonly schedulers: Readonly<Record<string, SchedulerCounts>>
}

interface SchedulerCounts {
  readonly workers: number
  readonly connected: number
  readonly running: number
  readonly places: number | null
  readonly queued: number
  readonly failed: number
  readonly elsewhere?: { readonly address: string; readonly trouble?: { readonly reason: string } }
}

export const status: Command = {
  name: 'status',
  usage: [['[--json]', 'is a running server healthy: stores, workers, queue, builds; exit status 1 if it is not']],
  details: OPERATOR_DETAILS,
  options: OPERATOR_OPTIONS,
  run: async (args, console) => {
    noWords(args)
    const answer = await ask<Status>(args, console, { method: 'GET', path: '/status' })
    if (!printedAsJson(args, console, answer)) console.print(textOf(answer))
    return answer.health === 'not healthy' ? 1 : 0
  },
}

const textOf = ({ version, startedAt, at, health, reasons, stores, results, builds, schedulers }: Status): string => {
  const runsMs = Math.max(0, Date.parse(at) - Date.parse(startedAt))
  const ended = Object.entries(results).map(([name, count]) => `${countText(count)} ${name}`)
  return blocks([
    `remexec ${cell(version)}: ${cell(health)}, started ${timeText(runsMs)} ago\n`,
    reasons.map((reason) => `  ${cell(reason)}\n`).join(''),
    table(
      ['STORE', 'SIZE', 'LIMIT', 'BLOBS'],
      stores.map(({ name, sizeBytes, maxBytes, blobs }) => [
        name,
        sizeText(sizeBytes),
        maxBytes === undefined ? '' : sizeText(maxBytes),
        countText(blobs),
      ]),
    ),
    table(
      ['SCHEDULER', 'WORKERS', 'CONNECTED', 'RUNNING', 'PLACES', 'WAITING', 'FAILED LATELY', 'AT'],
      Object.entries(schedulers).map(([name, of]) => [
        name,
        ...[of.workers, of.connected, of.running].map(countText),
        of.places === null ? 'no limit' : countText(of.places),
        ...[of.queued, of.failed].map(countText),
        whereOf(of),
      ]),
    ),
    `${counted(builds.kept, 'build')} kept, ${countText(builds.running)} running${ended.length === 0 ? '' : `; actions since the start: ${ended.join(', ')}`}\n`,
  ])
}

const whereOf = ({ elsewhere }: SchedulerCounts): string => {
  if (elsewhere === undefined) return 'this server'
  return elsewhere.trouble === undefined
    ? elsewhere.address
    : `${elsewhere.address}, not known: ${elsewhere.trouble.reason}`
}
