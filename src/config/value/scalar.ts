import { availableParallelism } from 'node:os'
import { parseDuration, parseSignedDuration } from './duration.js'
import { parseSize } from './size.js'

type Written = number | string | boolean

const TEXT_INTEGER = /^[+-]?\d+$/
const TEXT_NUMBER = /^[+-]?(?:\d+\.?\d*|\.\d+)(?:e[+-]?\d+)?$/i

const parseCount = (value: Written): number => {
  const text = String(value).trim()
  if (typeof value === 'boolean' || !TEXT_INTEGER.test(text)) throw new RangeError('this is no whole number')
  const count = Number(text)
  if (!Number.isSafeInteger(count)) throw new RangeError('this number is too large')
  return count
}

const parseNumber = (value: Written): number => {
  const text = String(value).trim()
  if (typeof value === 'boolean' || !TEXT_NUMBER.test(text)) throw new RangeError('this is no number')
  return Number(text)
}

const parseBool = (value: Written): boolean => {
  const text = String(value).trim().toLowerCase()
  if (typeof value === 'number' || (text !== 'true' && text !== 'false'))
    throw new RangeError('this is neither true nor false')
  return text === 'true'
}

const parseParallelism = (value: Written): number =>
  typeof value === 'string' && value.trim() === 'cores' ? availableParallelism() : parseCount(value)

const notBool =
  (parse: (value: number | string) => number) =>
  (value: Written): number => {
    if (typeof value === 'boolean') throw new RangeError('this is no number')
    return parse(value)
  }

interface ScalarKind {
  /** Throws RangeError. */
  readonly parse: (value: Written) => number | boolean
  readonly expected: string
  /** Whether `10.0` and `1e1` are rejected although they are whole numbers, as in all fields that count. */
  readonly isWhole: boolean
}

/** How a field with `x-value` is read. All kinds accept text, so that values can come from the environment. */
export const SCALARS = {
  size: {
    parse: notBool(parseSize),
    expected: 'a size: bytes as an integer, or text such as "10gb" or "512MiB"',
    isWhole: true,
  },
  duration: {
    parse: notBool((value) => parseDuration(value)),
    expected: 'a duration: seconds as an integer, or text such as "1m 10s"',
    isWhole: true,
  },
  duration_ms: {
    parse: notBool((value) => parseDuration(value, 'ms')),
    expected: 'a duration: milliseconds as an integer, or text such as "500ms" or "2s"',
    isWhole: true,
  },
  signed_duration: {
    parse: notBool(parseSignedDuration),
    expected: 'a duration: seconds as an integer, which may be negative, or text such as "1m 10s"',
    isWhole: true,
  },
  count: { parse: parseCount, expected: 'a whole number', isWhole: true },
  parallelism: { parse: parseParallelism, expected: 'a whole number, or "cores"', isWhole: true },
  number: { parse: parseNumber, expected: 'a number', isWhole: false },
  bool: { parse: parseBool, expected: 'true or false', isWhole: false },
} as const satisfies Readonly<Record<string, ScalarKind>>

export type ScalarName = keyof typeof SCALARS

export const scalarKind = (name: ScalarName): ScalarKind => SCALARS[name]

/** Whether a number literal has a point or an exponent; a hexadecimal `0x1e` has neither. */
export const isFloatLiteral = (text: string): boolean => !/^[+-]?0x/i.test(text) && /[.e]/i.test(text)
