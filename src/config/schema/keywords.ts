import type { JsonObject, JsonValue } from '../read/document.js'
import { type ScalarName, scalarKind } from '../value/scalar.js'
import { kindsIn, type Schema } from './schema.js'

/** How numbers were written, which the value alone does not show. It is the `this` of the whole validator. */
export interface Literals {
  isFloatLiteral(instancePath: string): boolean
}

/**
 * A check that the generated validator calls for a custom keyword. Returns the fault of the value at
 * `instancePath`, or undefined. `schema` contains the keyword.
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

/** A count of only blanks counts as absent, because a quoted empty environment variable may leave it. */
export const isUnset = (name: ScalarName, data: JsonValue): boolean =>
  name === 'count' && typeof data === 'string' && data !== '' && data.trim() === ''

/** Does for text what ajv does for numbers. */
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

/** The word in the spelling of the schema. */
export const canonicalWord = (words: readonly string[], text: string): string | undefined =>
  words.find((word) => word.toLowerCase() === text.trim().toLowerCase())

export const checkKind: Check<string, JsonObject> = (what, data, schema) =>
  kindsIn(schema, data).length > 0 ? undefined : `names no ${what} kind`
