import { timeText } from '../../base/quantities.js'

const WIDTH = 300
const HEIGHT = 60

export interface Point {
  readonly atMs: number
  /** Undefined leaves a gap. */
  readonly value: number | undefined
}

export interface ChartParts {
  readonly title: string
  readonly points: readonly Point[]
  readonly text: (value: number) => string
  /** The top of the picture; the largest value if left out. */
  readonly top?: number
}

/** The last value in words, and all of them as a line from zero to the largest one. */
export const Chart = ({ title, points, text, top }: ChartParts) => {
  const known = points.flatMap(({ value }) => value ?? [])
  const most = Math.max(0, ...known)
  const last = known.at(-1)
  const peak = known.length === 0 ? '–' : text(most)
  const [first] = points
  const spanMs = first === undefined ? 0 : (points.at(-1)?.atMs ?? 0) - first.atMs
  return (
    <li class="chart">
      <b>{last === undefined ? '–' : text(last)}</b>
      <span>{title}</span>
      <svg
        viewBox={`0 0 ${WIDTH} ${HEIGHT}`}
        preserveAspectRatio="none"
        role="img"
        aria-label={`${title}: ${last === undefined ? 'no value' : `now ${text(last)}`}, peak ${peak}, over ${timeText(spanMs)}`}
      >
        {linesOf(points, top ?? most).map(({ line, area }) => (
          <>
            <path class="area" d={area} />
            <path class="line" d={line} />
          </>
        ))}
      </svg>
      <span class="ends">
        <span>{spanMs === 0 ? 'no time yet' : `${timeText(spanMs)} ago`}</span>
        <span>{`peak ${peak}`}</span>
      </span>
    </li>
  )
}

interface Line {
  readonly line: string
  /** The line and what is below it. */
  readonly area: string
}

/** One line for each stretch without a gap. */
const linesOf = (points: readonly Point[], top: number): readonly Line[] => {
  const stretches: string[][] = [[]]
  points.forEach(({ value }, at) => {
    if (value === undefined) {
      stretches.push([])
      return
    }
    const x = points.length < 2 ? WIDTH : (WIDTH * at) / (points.length - 1)
    const y = HEIGHT - 2 - (top <= 0 ? 0 : ((HEIGHT - 6) * Math.min(value, top)) / top)
    stretches.at(-1)?.push(`${x.toFixed(1)} ${y.toFixed(1)}`)
  })
  return stretches.flatMap((stretch): Line[] => {
    const [first, last] = [stretch[0], stretch.at(-1)]
    if (first === undefined || last === undefined) return []
    const line = `M${stretch.length === 1 ? `${first}h-6` : stretch.join('L')}`
    const [from, to] = [first, last].map((point) => point.split(' ')[0])
    return [{ line, area: `M${from} ${HEIGHT}L${stretch.join('L')}L${to} ${HEIGHT}Z` }]
  })
}

/** How much of a whole, as a bar with the same in words beside it. */
export const Share = ({
  part,
  whole,
  text,
}: {
  readonly part: number
  readonly whole: number
  readonly text: string
}) => {
  const percent = whole <= 0 ? 0 : Math.min(100, (100 * part) / whole)
  return (
    <span class="share">
      <svg viewBox="0 0 100 8" preserveAspectRatio="none" aria-hidden="true">
        <rect class="rest" width="100" height="8" />
        <rect class="part" width={percent.toFixed(1)} height="8" />
      </svg>
      <span>{text}</span>
    </span>
  )
}
