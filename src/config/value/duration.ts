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

/** What a bare integer counts and what the result is given in; the rest below one unit is cut off. */
export type DurationUnit = 's' | 'ms'

/**
 * A duration as a configuration writes it: an integer in `unit`, or text of numbers with units (`1m 10s`, `1h2m3s`; `M` is
 * a month of 30.44 days, `y` a year of 365.25). Text without a unit is refused, because nobody can tell what it counts.
 * Throws RangeError with a sentence about what is wrong.
 */
export const parseDuration = (value: number | string, unit: DurationUnit = 's'): number => {
  if (typeof value === 'string') return parseTerms(value.trim(), unit)
  if (!Number.isSafeInteger(value)) throw new RangeError('a duration is a whole number')
  if (value < 0) throw new RangeError('a duration cannot be negative')
  return value
}

/** As `parseDuration`, but an integer may be negative: two keys say "off" that way. */
export const parseSignedDuration = (value: number | string): number =>
  typeof value === 'number' && value < 0 ? -parseDuration(-value) : parseDuration(value)

const parseTerms = (text: string, unit: DurationUnit): number => {
  if (text === '') throw new RangeError('an empty text is no duration')
  if (/^[+-]?\d+$/.test(text))
    throw new RangeError('text needs a unit, as in "70s"; a bare integer is written without quotes')
  if (!/^(?:\d+\s*[a-z]+\s*)+$/i.test(text)) throw new RangeError('this is no duration')
  let totalNs = 0n
  for (const [, digits = '', name = ''] of text.matchAll(/(\d+)\s*([a-z]+)/gi)) {
    const unitNs = Object.hasOwn(UNIT_NS, name) ? UNIT_NS[name] : undefined
    if (unitNs === undefined) throw new RangeError(`"${name}" is no unit of time`)
    totalNs += BigInt(digits) * unitNs
  }
  const total = Number(totalNs / (unit === 's' ? 1_000_000_000n : 1_000_000n))
  if (!Number.isSafeInteger(total)) throw new RangeError('this is too long')
  return total
}
