import type { JsonObject, JsonValue } from '../read/document.js'
import { type ScalarName, scalarKind } from '../value/scalar.js'
import { kindsIn, type Schema } from './schema.js'

/** What a check needs beyond the value: how a number was written. It is the `this` of the whole validator. */
export interface Literals {
  isFloatLiteral(instancePath: string): boolean
}

/**
 * What the generated validator asks about a keyword of ours: what is wrong with the value at `instancePath`, or undefined.
 * `schema` is the one the keyword stands in.
 */
type Check<Keyword, Data> = (
  this: Literals,
  keyword: Keyword,
  data: Data,
  schema: Schema,
  instancePath: string,
) => string | undefined

export const checkScalar: Check<ScalarName, JsonValue> = function (name, data, schema, instancePath) {
  if (typeof data !== 'number' && typeof data !== 'string' && typeof data !== 'boolean') return undefined
  const kind = scalarKind(name)
  if (kind.isWhole && this.isFloatLiteral(instancePath))
    return 'a number with a point or an exponent is not a whole one'
  if (isUnset(name, data)) return undefined
  try {
    const parsed = kind.parse(data)
    return typeof data === 'string' && typeof parsed === 'number' ? checkBounds(parsed, schema) : undefined
  } catch (error) {
    if (error instanceof RangeError) return error.message
    throw error
  }
}

/** A count of blanks only, as an empty environment variable in quotes may leave it, counts as left out. */
export const isUnset = (name: ScalarName, data: JsonValue): boolean =>
  name === 'count' && typeof data === 'string' && data !== '' && data.trim() === ''

/** ajv compares numbers; this does the same for text. */
const checkBounds = (value: number, { minimum, maximum, exclusiveMinimum }: Schema): string | undefined => {
  if (minimum !== undefined && value < minimum) return `must be at least ${minimum}`
  if (maximum !== undefined && value > maximum) return `must be at most ${maximum}`
  if (exclusiveMinimum !== undefined && value <= exclusiveMinimum) return `must be more than ${exclusiveMinimum}`
  return undefined
}

export const checkWord: Check<readonly string[], JsonValue> = (words, data) => {
  if (typeof data !== 'string' || canonicalWord(words, data) !== undefined) return undefined
  return 'is not one of the words known here'
}

/** The word as the schema spells it. */
export const canonicalWord = (words: readonly string[], text: string): string | undefined =>
  words.find((word) => word.toLowerCase() === text.trim().toLowerCase())

export const checkKind: Check<string, JsonObject> = (what, data, schema) =>
  kindsIn(schema, data).length > 0 ? undefined : `names no ${what} kind`
