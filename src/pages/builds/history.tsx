import { countText, shareText } from '../../base/quantities.js'
import type { Visit } from '../page.js'
import { saidText } from '../parts/said.js'
import { durationText, Numbers } from '../parts/small.js'
import { type ShownOutcome, toneOfOutcome } from './outcome.js'
import type { BuildRow } from './row.js'

interface Parts {
  /** Those that fit what the reader looks for. */
  readonly of: readonly BuildRow[]
}

/** Numbers of a list of builds. */
export const Summary = ({ of }: Parts) => {
  if (of.length === 0) return null
  let [ended, passed, hits, misses] = [0, 0, 0, 0]
  const tookMs: number[] = []
  for (const row of of) {
    if (isEnded(row.outcome)) ended += 1
    if (row.outcome === 'succeeded') passed += 1
    if (row.tookMs !== undefined && row.outcome !== 'cache only') tookMs.push(row.tookMs)
    hits += row.hits ?? 0
    misses += row.misses ?? 0
  }
  tookMs.sort((a, b) => a - b)
  const median = tookMs[Math.floor(tookMs.length / 2)]
  return (
    <Numbers
      of={[
        ['builds', countText(of.length)],
        ['succeeded', shareText(passed, ended)],
        ['median time', median === undefined ? '–' : durationText(median)],
        ['cache hits', countText(hits)],
        ['cache misses', countText(misses)],
        ['from cache', shareText(hits, hits + misses)],
      ]}
    />
  )
}

const isEnded = (outcome: ShownOutcome): boolean => outcome !== 'running' && outcome !== 'cache only'

const MAX_BARS = 80
const WIDTH = 1200
const HEIGHT = 72
const LEAST = 4
/** Fewer builds do not fill the width. */
const LEAST_BARS = 30

/** The last builds as bars, as high as they took long. The table says the same, so it is not for the keyboard. */
export const History = ({ of, visit }: Parts & { readonly visit: Visit }) => {
  const bars = of
    .filter(({ tookMs }) => tookMs !== undefined)
    .sort((a, b) => b.startedMs - a.startedMs)
    .slice(0, MAX_BARS)
    .reverse()
  if (bars.length < 3) return null
  const most = Math.max(...bars.map(({ tookMs = 0 }) => tookMs), 1)
  const step = WIDTH / Math.max(bars.length, LEAST_BARS)
  return (
    <div class="history">
      <svg viewBox={`0 0 ${WIDTH} ${HEIGHT}`} preserveAspectRatio="none" aria-hidden="true">
        {bars.map(({ id, instance, outcome, tookMs = 0, command = '', patterns }, at) => {
          const height = Math.max(LEAST, (HEIGHT * tookMs) / most)
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
        {`The last ${countText(bars.length)} builds, the newest on the right: green succeeded, red failed; the longest took ${durationText(most)}.`}
      </p>
    </div>
  )
}
