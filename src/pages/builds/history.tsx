import { countText, shareText } from '../../base/quantities.js'
import type { Visit } from '../page.js'
import { mappedInTurns, sortedInTurns } from '../parts/in-turns.js'
import { saidText } from '../parts/said.js'
import { durationText } from '../parts/small.js'
import { type ShownOutcome, toneOfOutcome } from './outcome.js'
import type { BuildRow } from './row.js'

/** Numbers of a list of builds. */
export interface Sums {
  readonly count: number
  readonly ended: number
  readonly passed: number
  readonly hits: number
  readonly misses: number
  /** Builds whose hits and misses this server counted. The others are in no sum. */
  readonly counted: number
  readonly medianMs: number | undefined
}

export const sumsOf = async (rows: readonly BuildRow[]): Promise<Sums> => {
  let [ended, passed, hits, misses, counted] = [0, 0, 0, 0, 0]
  const tookMs = await mappedInTurns(rows, (row) => {
    if (isEnded(row.outcome)) ended += 1
    if (row.outcome === 'succeeded') passed += 1
    if (row.countedBy === 'server') {
      counted += 1
      hits += row.hits ?? 0
      misses += row.misses ?? 0
    }
    return hasEvents(row.outcome) ? row.tookMs : undefined
  })
  const inOrder = await sortedInTurns(tookMs, (a, b) => a - b)
  return { count: rows.length, ended, passed, hits, misses, counted, medianMs: inOrder[Math.floor(inOrder.length / 2)] }
}

/** In one line, because the list is what readers come for. */
export const Summary = ({ of }: { readonly of: Sums }) => {
  const { count, ended, passed, hits, misses, counted, medianMs: median } = of
  if (count === 0) return null
  const which = counted === count || counted === 0 ? '' : ` in the ${countText(counted)} that this server counted`
  const facts = [
    ['builds', countText(count)],
    ['succeeded', shareText(passed, ended)],
    ['median time', median === undefined ? '–' : durationText(median)],
    [`from cache${which}`, shareText(hits, hits + misses)],
  ] as const
  return (
    <ul class="said">
      {facts.map(([name, value]) => (
        <li>
          <b>{value}</b>
          {` ${name}`}
        </li>
      ))}
    </ul>
  )
}

const isEnded = (outcome: ShownOutcome): boolean => outcome !== 'running' && hasEvents(outcome)

const hasEvents = (outcome: ShownOutcome): boolean => outcome !== 'cache only' && outcome !== 'no events'

const MAX_BARS = 80
const WIDTH = 1200
const HEIGHT = 72
const LEAST = 4
/** Fewer builds do not fill the width. */
const LEAST_BARS = 30

/** The last builds that say how long they took, the newest last. */
export const lastBuilds = async (rows: readonly BuildRow[]): Promise<readonly BuildRow[]> => {
  const timed = await mappedInTurns(rows, (row) => (row.tookMs === undefined ? undefined : row))
  return (await sortedInTurns(timed, (a, b) => b.startedMs - a.startedMs)).slice(0, MAX_BARS).reverse()
}

/** Builds as bars, as high as they took long. The table says the same, so it is not for the keyboard. */
export const History = ({ of: bars, visit }: { readonly of: readonly BuildRow[]; readonly visit: Visit }) => {
  if (bars.length < 3) return null
  const most = Math.max(...bars.map(({ tookMs = 0 }) => tookMs), 1)
  const step = WIDTH / Math.max(bars.length, LEAST_BARS)
  return (
    <div class="history">
      <svg viewBox={`0 0 ${WIDTH} ${HEIGHT}`} preserveAspectRatio="none" aria-hidden="true">
        {bars.map(({ id, instance, outcome, tookMs = 0, command = '', patterns }, at) => {
          // By its logarithm: beside one build of an hour all others would be two pixels high.
          const height = Math.max(LEAST, (HEIGHT * Math.log1p(tookMs)) / Math.log1p(most))
          const x = at * step
          return (
            <a href={visit.to(`invocation/${id}`, { instance })} tabIndex={-1}>
              <rect
                class={toneOfOutcome(outcome)}
                x={x.toFixed(1)}
                y={(HEIGHT - height).toFixed(1)}
                width={(step - 2).toFixed(1)}
                height={height.toFixed(1)}
              >
                <title>{saidText(`${outcome}, ${durationText(tookMs)}: ${[command, ...patterns].join(' ')}`)}</title>
              </rect>
            </a>
          )
        })}
      </svg>
      <p class="dim small">
        {`The last ${countText(bars.length)} builds, the newest on the right: green succeeded, red failed; the longest took ${durationText(most)}. Each step up is ten times as long.`}
      </p>
    </div>
  )
}
