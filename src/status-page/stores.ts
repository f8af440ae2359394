import { countText, shareText, sizeText, timeText } from '../base/quantities.js'
import type { CacheSeries } from '../metrics/store-metrics.js'
import { type Cell, escaped, Html, table } from './html.js'
import type { StatusPageParts } from './parts.js'

const MAX_DEPTH = 3

/** The stores as a tree: each below the store that it is nested in. */
export const stores = ({ config, metrics }: StatusPageParts): string =>
  table(
    [
      'Store',
      'Size',
      'Limit',
      'Blobs',
      'Hit rate',
      'Hits',
      'Misses',
      'Errors',
      'In',
      'Out',
      'Evicted',
      'Retention',
      'Promised',
      'Broken',
    ],
    [...metrics.stores.all].sort((a, b) => (a.cacheType < b.cacheType ? -1 : 1)).map(row),
    config.global.disable_metrics ? 'not counted (global.disable_metrics)' : 'none',
  )

const row = (series: CacheSeries): readonly Cell[] => {
  const [hits, misses] = [series.valueOf('read', 'hit'), series.valueOf('read', 'miss')]
  const errors = series.valueOf('read', 'error') + series.valueOf('write', 'error')
  const known = (value: number | undefined, text: (value: number) => string): string =>
    value === undefined ? '' : text(value)
  const size = series.sum(({ sizeBytes }) => sizeBytes)
  const limit = series.sum(({ maxBytes }) => maxBytes)
  return [
    nameOf(series),
    known(size, sizeText),
    known(limit, sizeText),
    known(
      series.sum(({ entryCount }) => entryCount),
      countText,
    ),
    shareText(hits, hits + misses),
    ...[hits, misses, errors].map(countText),
    sizeText(series.bytesOf('in')),
    sizeText(series.bytesOf('out')),
    known(
      series.sum(({ evictedCount }) => evictedCount),
      countText,
    ),
    known(
      series.least(({ lastEvictedIdleMs }) => lastEvictedIdleMs),
      timeText,
    ),
    ...promises(series),
  ]
}

/** What a store promises, and how often it had to break that. Empty for a store that only has copies. */
const promises = (series: CacheSeries): readonly Cell[] => {
  const retentionMs = series.least(({ promised }) => promised?.retentionMs)
  const broken = series.sum(({ promised }) => promised?.brokenCount)
  return [retentionMs === undefined ? '' : timeText(retentionMs), broken === undefined ? '' : countText(broken)]
}

/** The HTTP caches of build tools, each with its tool. */
export const httpCaches = ({ metrics }: StatusPageParts): string =>
  table(
    ['HTTP cache', 'Tool', 'Hit rate', 'Hits', 'Misses', 'Uploads', 'Kept', 'Refused', 'In', 'Out'],
    metrics.httpCaches.all.map(({ path, kind, hits, misses, ...series }) => [
      ...[path, kind, shareText(hits.value, hits.value + misses.value)],
      ...[hits, misses, series.uploads, series.keptUploads, series.refusedUploads].map(({ value }) => countText(value)),
      ...[series.inBytes, series.outBytes].map(({ value }) => sizeText(value)),
    ]),
    'none',
  )

/** `fast` below `CAS` for `CAS/fast`, with the whole path as its title. */
const nameOf = ({ cacheType }: CacheSeries): Html => {
  const parts = cacheType.split('/')
  const depth = Math.min(MAX_DEPTH, parts.length - 1)
  const name = escaped(parts.at(-1) ?? '')
  return new Html(`<span class="depth${depth}" title="${escaped(cacheType)}">${name}</span>`)
}
