import { StatusError } from '../base/status-error.js'

/** Points in time, which people read as text: `queuedAt` in place of `queuedMs`. */
const TIMES = new Map([
  ['queuedMs', 'queuedAt'],
  ['startedMs', 'startedAt'],
  ['endedMs', 'endedAt'],
  ['sinceMs', 'since'],
  ['nowMs', 'at'],
  ['heardMs', 'heardAt'],
  ['usedMs', 'usedAt'],
])

export const withTimes = (value: unknown): unknown => {
  if (Array.isArray(value)) return value.map(withTimes)
  if (typeof value !== 'object' || value === null) return value
  return Object.fromEntries(
    Object.entries(value).map(([key, inner]) => {
      const name = TIMES.get(key)
      return name !== undefined && typeof inner === 'number'
        ? [name, new Date(inner).toISOString()]
        : [key, withTimes(inner)]
    }),
  )
}

export const json = (status: number, content: object) => ({
  status,
  contentType: 'application/json; charset=utf-8',
  body: `${JSON.stringify(content, null, 1)}\n`,
})

export const of = (query: URLSearchParams, key: string): string => {
  const value = query.get(key) ?? ''
  if (value === '') throw new StatusError('INVALID_ARGUMENT', `expected ?${key}=...`)
  return value
}

interface Limits {
  readonly least: number
  readonly most: number
  /** The value of a query without it. */
  readonly otherwise: number
}

export const numberOf = (query: URLSearchParams, key: string, { least, most, otherwise }: Limits): number => {
  const text = query.get(key) ?? String(otherwise)
  const value = Number(text)
  if (Number.isInteger(value) && value >= least && value <= most) return value
  throw new StatusError('INVALID_ARGUMENT', `${key}=${text}: expected a whole number from ${least} to ${most}`)
}
