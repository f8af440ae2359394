import { countText, shareText, sizeText, timeText } from '../../base/quantities.js'
import type { ChunkUsage } from '../../blobs/meter.js'
import type { CacheSeries } from '../../metrics/store-metrics.js'
import type { Page, Visit } from '../page.js'
import { Chart, Share } from '../parts/chart.js'
import { Mark } from '../parts/small.js'
import { type Column, Table } from '../parts/table.js'
import { storeData } from './data.js'
import type { ServerSources } from './sources.js'
import { NoTrends, percentText, SpanTabs, spanOf } from './trend-charts.js'
import { isOuter } from './trends.js'

const MAX_DEPTH = 3

/** The stores: how well they are used over time, what they keep and how long. */
export const storesPage = (sources: ServerSources): Page => ({
  address: /^stores$/,
  access: 'operator',
  show: async (visit) => ({
    title: 'Stores',
    isLive: visit.query.get('live') !== 'off',
    data: { stores: sources.metrics.stores.all.map(storeData) },
    body: (
      <>
        <h1>Stores</h1>
        <SpanTabs visit={visit} />
        <StoreCharts of={sources} visit={visit} />
        <StoreTables of={sources} />
      </>
    ),
  }),
})

const StoreCharts = ({ of: { trends, metrics }, visit }: { readonly of: ServerSources; readonly visit: Visit }) => {
  const samples = trends.samples(spanOf(visit))
  if (samples.length < 2) return <NoTrends />
  return (
    <>
      {metrics.stores.all.filter(isOuter).map(({ cacheType }) => {
        const of = samples.map(({ atMs, stores }) => ({ atMs, ...stores.get(cacheType) }))
        const rates = of.map(({ atMs, hitPercent }) => ({ atMs, value: hitPercent }))
        const sizes = of.map(({ atMs, sizeBytes }) => ({ atMs, value: sizeBytes }))
        return (
          <section class="chart-row" aria-label={cacheType}>
            <h2>{cacheType}</h2>
            <ul class="charts">
              <Chart title="Hit rate" points={rates} text={percentText} top={100} />
              {sizes.some(({ value }) => value !== undefined) && <Chart title="Kept" points={sizes} text={sizeText} />}
            </ul>
          </section>
        )
      })}
    </>
  )
}

export const StoreTables = ({ of: { config, metrics } }: { readonly of: ServerSources }) => {
  const rows = [...metrics.stores.all].sort((a, b) => (a.cacheType < b.cacheType ? -1 : 1))
  const none = config.global.disable_metrics ? 'Not counted (global.disable_metrics).' : 'None.'
  return (
    <>
      <h2>Contents</h2>
      <Table caption="Stores, each below the one it is in" columns={KEPT} {...{ rows, none }} />
      <h2>Requests</h2>
      <Table caption="Since the start" columns={ASKED} {...{ rows, none }} />
      <p class="dim small">
        Hits and misses are reads. Asked, and there: blobs of FindMissingBlobs, by which clients and workers learn what
        they need not upload. In and out are bytes that were sent; what a worker on this machine hands in as a file of
        the same disk is moved and in neither.
      </p>
      <Chunks rows={rows.filter(({ chunks }) => chunks !== undefined)} />
    </>
  )
}

const known = (value: number | undefined, text: (value: number) => string): string =>
  value === undefined ? '–' : text(value)

const NAME: Column<CacheSeries> = {
  head: 'Store',
  kind: 'name',
  /** `fast` below `CAS` for `CAS/fast`, with the whole path as its title. */
  cell: ({ cacheType }) => {
    const parts = cacheType.split('/')
    const depth = Math.min(MAX_DEPTH, parts.length - 1)
    return (
      <span class={`depth${depth}`} title={cacheType}>
        {parts.at(-1) ?? ''}
      </span>
    )
  },
}

const number = (head: string, text: (series: CacheSeries) => string): Column<CacheSeries> => ({
  head,
  kind: 'number',
  cell: text,
})

const KEPT: readonly Column<CacheSeries>[] = [
  NAME,
  {
    head: 'Size',
    cell: (series) => {
      const size = series.sum(({ sizeBytes }) => sizeBytes)
      const limit = series.sum(({ maxBytes }) => maxBytes)
      if (size === undefined) return '–'
      if (limit === undefined) return `${sizeText(size)}, no limit`
      return <Share part={size} whole={limit} text={`${sizeText(size)} of ${sizeText(limit)}`} />
    },
  },
  number('Blobs', (series) =>
    known(
      series.sum(({ entryCount }) => entryCount),
      countText,
    ),
  ),
  number('Evicted', (series) =>
    known(
      series.sum(({ evictedCount }) => evictedCount),
      countText,
    ),
  ),
  number('Idle before eviction', (series) =>
    known(
      series.least(({ lastEvictedIdleMs }) => lastEvictedIdleMs),
      timeText,
    ),
  ),
  number('Promised', (series) =>
    known(
      series.least(({ promised }) => promised?.retentionMs),
      timeText,
    ),
  ),
  {
    head: 'Broken promises',
    kind: 'number',
    cell: (series) => {
      const broken = series.sum(({ promised }) => promised?.brokenCount)
      return broken !== undefined && broken > 0 ? <Mark tone="bad">{countText(broken)}</Mark> : known(broken, countText)
    },
  },
]

const hitsOf = (series: CacheSeries): number => series.valueOf('read', 'hit')
const missesOf = (series: CacheSeries): number => series.valueOf('read', 'miss')

const ASKED: readonly Column<CacheSeries>[] = [
  NAME,
  {
    head: 'Hit rate',
    cell: (series) => {
      const [hits, misses] = [hitsOf(series), missesOf(series)]
      return <Share part={hits} whole={hits + misses} text={shareText(hits, hits + misses)} />
    },
  },
  number('Hits', (series) => countText(hitsOf(series))),
  number('Misses', (series) => countText(missesOf(series))),
  {
    head: 'Asked, and there',
    cell: (series) => {
      const [there, missing] = [series.valueOf('find_missing', 'hit'), series.valueOf('find_missing', 'miss')]
      return there + missing === 0 ? '–' : `${countText(there)} of ${countText(there + missing)}`
    },
  },
  number('Errors', (series) => countText(series.valueOf('read', 'error') + series.valueOf('write', 'error'))),
  number('In', (series) => sizeText(series.bytesOf('in'))),
  number('Out', (series) => sizeText(series.bytesOf('out'))),
]

/** What chunks save, for stores that keep larger blobs so. */
const Chunks = ({ rows }: { readonly rows: readonly CacheSeries[] }) =>
  rows.length === 0 ? null : (
    <>
      <h2>Larger blobs as chunks</h2>
      <Table caption="Since the start: bytes that were there before" columns={CHUNKS} rows={rows} none="" />
    </>
  )

const savedOf = (head: string, of: (chunks: ChunkUsage) => readonly [saved: number, whole: number]) => ({
  head,
  cell: ({ chunks }: CacheSeries) => {
    const [saved, whole] = chunks === undefined ? [0, 0] : of(chunks)
    if (whole === 0) return <span class="dim">nothing yet</span>
    return <Share part={saved} whole={whole} text={`${shareText(saved, whole)} of ${sizeText(whole)}`} />
  },
})

const CHUNKS: readonly Column<CacheSeries>[] = [
  NAME,
  savedOf('Not kept again', ({ knownBytes, newBytes }) => [knownBytes, knownBytes + newBytes]),
  savedOf('Not sent by clients that cut', ({ unsentBytes, sentBytes }) => [unsentBytes, unsentBytes + sentBytes]),
]

type HttpCache = ServerSources['metrics']['httpCaches']['all'][number]

/** The HTTP caches of build tools, each with its tool. */
export const HttpCaches = ({ of: { metrics } }: { readonly of: ServerSources }) => {
  const rows = [...metrics.httpCaches.all]
  if (rows.length === 0) return null
  const count = (head: string, of: (cache: HttpCache) => { readonly value: number }): Column<HttpCache> => ({
    head,
    kind: 'number',
    cell: (cache) => countText(of(cache).value),
  })
  const columns: readonly Column<HttpCache>[] = [
    { head: 'Path', kind: 'name', cell: ({ path }) => path },
    { head: 'Tool', cell: ({ kind }) => kind },
    {
      head: 'Hit rate',
      cell: ({ hits: { value: hits }, misses: { value: misses } }) => (
        <Share part={hits} whole={hits + misses} text={shareText(hits, hits + misses)} />
      ),
    },
    count('Hits', ({ hits }) => hits),
    count('Misses', ({ misses }) => misses),
    count('Uploads', ({ uploads }) => uploads),
    count('Kept', ({ keptUploads }) => keptUploads),
    count('Refused', ({ refusedUploads }) => refusedUploads),
    { head: 'In', kind: 'number', cell: ({ inBytes }) => sizeText(inBytes.value) },
    { head: 'Out', kind: 'number', cell: ({ outBytes }) => sizeText(outBytes.value) },
  ]
  return (
    <>
      <h2>Build tools over HTTP</h2>
      <Table caption="Caches, since the start" columns={columns} rows={rows} none="" />
    </>
  )
}
