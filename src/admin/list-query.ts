import { StatusError } from '../base/status-error.js'
import { numberOf } from './json.js'
import type { ListedEntry, WantedList } from './process-facts.js'

const KINDS = ['blobs', 'results', 'http'] as const
const ORDERS = ['largest', 'oldest', 'newest'] as const

const DEFAULT_LIMIT = 50
const MAX_LIMIT = 10_000
const MAX_BYTES = Number.MAX_SAFE_INTEGER
/** Ten years. */
const MAX_SECONDS = 315_360_000

/** The question in a query: `kind`, `instance`, `store`, `order`, `limit`, `after`, `min_bytes`, `max_bytes`, `unused_s`, `used_s`, `hash`. */
export const wantedList = (query: URLSearchParams, nowMs: number): WantedList => {
  const number = (key: string, otherwise: number, most: number): number =>
    numberOf(query, key, { least: 0, most, otherwise })
  const hashPrefix = (query.get('hash') ?? '').toLowerCase()
  if (!/^[0-9a-f]{0,128}$/.test(hashPrefix))
    throw new StatusError('INVALID_ARGUMENT', 'hash: expected the first hex digits of one')
  const usedS = query.has('used_s') ? number('used_s', 0, MAX_SECONDS) : undefined
  const unusedS = query.has('unused_s') ? number('unused_s', 0, MAX_SECONDS) : undefined
  return {
    kind: oneOf(query, 'kind', KINDS),
    instance: query.get('instance') ?? '',
    store: query.get('store') ?? '',
    order: oneOf(query, 'order', ORDERS),
    limit: numberOf(query, 'limit', { least: 1, most: MAX_LIMIT, otherwise: DEFAULT_LIMIT }),
    after: query.has('after') ? placeOf(query.get('after') ?? '') : undefined,
    minBytes: number('min_bytes', 0, MAX_BYTES),
    maxBytes: number('max_bytes', MAX_BYTES, MAX_BYTES),
    usedFromMs: usedS === undefined ? 0 : nowMs - usedS * 1000,
    usedToMs: unusedS === undefined ? Number.POSITIVE_INFINITY : nowMs - unusedS * 1000,
    hashPrefix,
  }
}

/** Where a page ends, for `after` of the next. */
export const placeText = ({ storedBytes, usedMs, key, store }: ListedEntry): string =>
  `${storedBytes},${usedMs},${key},${store}`

const placeOf = (text: string): ListedEntry => {
  const [, storedBytes, usedMs, key = '', store = ''] =
    /^(\d{1,16}),(\d{1,16}),([^,]{1,300}),(.{1,1000})$/.exec(text) ?? []
  if (key === '') throw new StatusError('INVALID_ARGUMENT', 'after: expected what the page before says as `next`')
  return { storedBytes: Number(storedBytes), usedMs: Number(usedMs), key, store }
}

const oneOf = <Word extends string>(query: URLSearchParams, key: string, words: readonly [Word, ...Word[]]): Word => {
  const [usual] = words
  const text = query.get(key) ?? usual
  const found = words.find((word) => word === text)
  if (found !== undefined) return found
  throw new StatusError('INVALID_ARGUMENT', `${key}=${text}: expected ${words.join(', ')}`)
}
