import { countText, sizeText } from '../../base/quantities.js'
import type { Visit } from '../page.js'
import { Chart, type Point } from '../parts/chart.js'
import { Tabs } from '../parts/small.js'
import type { Sample, Span, Trends } from './trends.js'

export const percentText = (value: number): string => `${Math.round(value)} %`

/** The span that the address asks for: `?span=day`. */
export const spanOf = ({ query }: Visit): Span => (query.get('span') === 'day' ? 'day' : 'hour')

export const SpanTabs = ({ visit }: { readonly visit: Visit }) => (
  <Tabs
    label="Time"
    of={(['hour', 'day'] as const).map((span) => ({
      title: `The last ${span}`,
      link: visit.here({ span: span === 'hour' ? undefined : span }),
      isCurrent: spanOf(visit) === span,
    }))}
  />
)

interface TrendParts {
  readonly trends: Trends
  readonly span: Span
}

export const NoTrends = () => <p class="none">Pictures of the last hour and day begin a minute after the start.</p>

const reading =
  (samples: readonly Sample[]) =>
  (read: (sample: Sample) => number | undefined): readonly Point[] =>
    samples.map((sample) => ({ atMs: sample.atMs, value: read(sample) }))

export const QueueCharts = ({ trends, span }: TrendParts) => {
  const samples = trends.samples(span)
  if (samples.length < 2) return <NoTrends />
  const of = reading(samples)
  return (
    <ul class="charts">
      <Chart title="Waiting actions" points={of(({ queued }) => queued)} text={countText} />
      <Chart title="Running actions" points={of(({ executing }) => executing)} text={countText} />
    </ul>
  )
}

/** Of the process as a whole. */
export const TrendCharts = ({ trends, span }: TrendParts) => {
  const samples = trends.samples(span)
  if (samples.length < 2) return <NoTrends />
  const of = reading(samples)
  return (
    <ul class="charts">
      <Chart title="Hit rate" points={of(({ hitPercent }) => hitPercent)} text={percentText} top={100} />
      <Chart
        title="Bytes in and out"
        points={of(({ bytesPerSecond }) => bytesPerSecond)}
        text={(value) => `${sizeText(value)}/s`}
      />
      <Chart title="CPU, of one core" points={of(({ cpuPercent }) => cpuPercent)} text={percentText} />
      <Chart title="Memory" points={of(({ residentBytes }) => residentBytes)} text={sizeText} />
    </ul>
  )
}
