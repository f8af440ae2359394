const UNIT_NS: Readonly<Record<string, bigint>> = (() => {
  const second = 1_000_000_000n
  const day = 86_400n * second
  const named: readonly (readonly [bigint, string])[] = [
    [1n, 'ns nsec nanos'],
    [1_000n, 'us usec micros'],
    [1_000_000n, 'ms msec millis'],
    [second, 's sec secs second seconds'],
    [60n * second, 'm min mins minute minutes'],
    [3_600n * second, 'h hr hrs hour hours'],
    [day, 'd day days'],
    [7n * day, 'w week weeks'],
    [2_630_016n * second, 'M month months'],
    [31_557_600n * second, 'y yr yrs year years'],
  ]
  return Object.fromEntries(named.flatMap(([size, names]) => names.split(' ').map((name) => [name, size])))
})()

/** The unit of a bare integer and of the result. */
export type DurationUnit = 's' | 'ms'

/**
 * Parses a duration: an integer in `unit`, also as text, so that it can come from the environment, or text
 * with units (`1m 10s`, `1h2m3s`; `M` is a month of 30.44 days, `y` a year of 365.25). The result is exact to
 * the millisecond: seconds may have a fraction, and finer values are rejected. Throws RangeError with a
 * sentence about the fault.
 */
export const parseDuration = (value: number | string, unit: DurationUnit = 's'): number => {
  const bare = typeof value === 'number' ? value : bareInteger(value)
  if (bare === undefined) return parseTerms(String(value).trim(), unit)
  if (bare < 0) throw new RangeError('a duration cannot be negative')
  if (Number.isInteger(bare) && !Number.isSafeInteger(bare)) throw new RangeError('this is too long')
  if (!Number.isSafeInteger(bare)) throw new RangeError('a duration is a whole number')
  return bare
}

/** Like `parseDuration`, but an integer may be negative: two keys use that for "off". */
export const parseSignedDuration = (value: number | string): number => {
  const bare = typeof value === 'number' ? value : bareInteger(value)
  return bare !== undefined && bare < 0 ? -parseDuration(-bare) : parseDuration(value)
}

const bareInteger = (text: string): number | undefined => (/^[+-]?\d+$/.test(text.trim()) ? Number(text) : undefined)

const parseTerms = (text: string, unit: DurationUnit): number => {
  if (text === '') throw new RangeError('an empty text is no duration')
  if (!/^(?:\d+\s*[a-z]+\s*)+$/i.test(text)) throw new RangeError('this is no duration')
  let totalNs = 0n
  for (const [, digits = '', name = ''] of text.matchAll(/(\d+)\s*([a-z]+)/gi)) {
    const unitNs = Object.hasOwn(UNIT_NS, name) ? UNIT_NS[name] : undefined
    if (unitNs === undefined) throw new RangeError(`"${name}" is no unit of time`)
    totalNs += BigInt(digits) * unitNs
  }
  if (totalNs % 1_000_000n !== 0n) throw new RangeError('a duration is no finer than a millisecond')
  const totalMs = Number(totalNs / 1_000_000n)
  if (!Number.isSafeInteger(totalMs)) throw new RangeError('this is too long')
  return unit === 's' ? totalMs / 1000 : totalMs
}
