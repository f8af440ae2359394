import { TargetError } from '../wire/target.js'

type Numbers = readonly number[]

/** The first dotted numbers in a text, such as 2.6.1 in `v2.6.1, --max_size 1`; undefined if it has none. */
const numbersIn = (text: string): Numbers | undefined => /\d+(?:\.\d+)*/.exec(text)?.[0].split('.').map(Number)

const compare = (a: Numbers, b: Numbers): number => {
  for (let at = 0; at < Math.max(a.length, b.length); at++) {
    const difference = (a[at] ?? 0) - (b[at] ?? 0)
    if (difference !== 0) return difference
  }
  return 0
}

const HOLDS: Readonly<Record<string, (order: number) => boolean>> = {
  '<': (order) => order < 0,
  '<=': (order) => order <= 0,
  '>': (order) => order > 0,
  '>=': (order) => order >= 0,
  '=': (order) => order === 0,
}

/**
 * Whether a version is in a range such as `>=2.5 <2.6.1`: all of its parts hold. Throws a TargetError for another form, and for a
 * version without numbers.
 */
export const isInRange = (version: string, range: string): boolean => {
  const found = numbersIn(version)
  return range
    .trim()
    .split(/\s+/)
    .every((part) => {
      const [, operator = '', numbers] = /^(<=?|>=?|=)(\d+(?:\.\d+)*)$/.exec(part) ?? []
      const holds = HOLDS[operator]
      if (holds === undefined || numbers === undefined)
        throw new TargetError(`versions ${JSON.stringify(range)}: expected parts such as >=2.5 or <2.6.1`)
      if (found === undefined)
        throw new TargetError(
          `versions ${JSON.stringify(range)}: --server-version ${JSON.stringify(version)} has no number to compare`,
        )
      return holds(compare(found, numbers.split('.').map(Number)))
    })
}
