import { Ajv2020, type ErrorObject } from 'ajv/dist/2020.js'
import type { DataValidationCxt, SchemaValidateFunction } from 'ajv/dist/types/index.js'
import type { JsonObject, JsonValue } from '../read/document.js'
import { type ScalarName, scalarKind } from '../value/scalar.js'
import { kindsIn, type Schema, schemaFile, schemaFiles } from './schema.js'

/** What a check needs beyond the value: how a number was written. ajv passes it on as `this`. */
export interface Literals {
  isFloatLiteral(instancePath: string): boolean
}

type Check<Keyword, Data> = (keyword: Keyword, data: Data, schema: Schema, isFloat: boolean) => string | undefined

/** Makes a keyword of a check that returns what is wrong, or undefined. */
const keywordOf = <Keyword, Data>(name: string, check: Check<Keyword, Data>) => {
  const validate: SchemaValidateFunction = function (
    this: Literals,
    keyword: Keyword,
    data: Data,
    schema?: Schema,
    context?: DataValidationCxt,
  ) {
    const message = check(keyword, data, schema ?? {}, this.isFloatLiteral(context?.instancePath ?? ''))
    // ajv adds the place and the value to the error of a keyword of ours, but neither its name nor the schema around it.
    validate.errors = message === undefined ? [] : [{ keyword: name, message, params: { parentSchema: schema } }]
    return message === undefined
  }
  return { keyword: name, errors: true, validate }
}

const checkScalar: Check<ScalarName, JsonValue> = (name, data, schema, isFloat) => {
  if (typeof data !== 'number' && typeof data !== 'string' && typeof data !== 'boolean') return undefined
  const kind = scalarKind(name)
  if (isFloat && kind.isWhole) return 'a number with a point or an exponent is not a whole one'
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

const checkWord: Check<readonly string[], JsonValue> = (words, data) => {
  if (typeof data !== 'string' || canonicalWord(words, data) !== undefined) return undefined
  return 'is not one of the words known here'
}

/** The word as the schema spells it. */
export const canonicalWord = (words: readonly string[], text: string): string | undefined =>
  words.find((word) => word.toLowerCase() === text.trim().toLowerCase())

const checkKind: Check<string, JsonObject> = (what, data, schema) =>
  kindsIn(schema, data).length > 0 ? undefined : `names no ${what} kind`

/** Checks a whole document; all errors are in `errors` afterwards. */
export const compileValidator = (): {
  validate(this: Literals, root: JsonValue): boolean
  readonly errors: () => readonly ErrorObject[]
} => {
  const ajv = new Ajv2020({ allErrors: true, verbose: true, passContext: true, allowUnionTypes: true })
  ajv.addVocabulary(
    [
      'x-address x-alias-is-fine x-alias-of x-always-so x-available x-becomes x-empty-is-default x-expected x-filled x-ignored x-instance x-key',
      'x-key-optional x-lenient x-names x-path x-shared-form x-zero-is-default',
    ].flatMap((names) => names.split(' ')),
  )
  ajv.addKeyword(keywordOf('x-value', checkScalar))
  ajv.addKeyword(keywordOf('x-words', checkWord))
  ajv.addKeyword({ ...keywordOf('x-kinds', checkKind), type: 'object' })
  for (const schema of schemaFiles.values()) ajv.addSchema(schema)
  const compiled = ajv.getSchema(schemaFile('config.json').$id ?? '')
  if (compiled === undefined) throw new Error('schema/config.json has no $id')
  return {
    validate(root) {
      return compiled.call(this, root) as boolean
    },
    errors: () => compiled.errors ?? [],
  }
}
