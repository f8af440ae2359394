import { readdirSync, readFileSync } from 'node:fs'
import type { JsonObject, JsonValue } from '../read/document.js'
import type { ScalarName } from '../value/scalar.js'

/**
 * A schema of ours: the keywords of JSON Schema that we use, and annotations that say how a value is read (`x-value`,
 * `x-words`), what it refers to (`x-names`), how a container may be written (`x-key`) and what becomes of an option
 * (`x-alias-of`, `x-ignored`, `x-available`).
 */
export interface Schema {
  readonly $id?: string
  readonly $ref?: string
  readonly title?: string
  readonly description?: string
  readonly type?: string | readonly string[]
  readonly enum?: readonly string[]
  readonly default?: JsonValue
  readonly properties?: Readonly<Record<string, Schema>>
  readonly additionalProperties?: boolean | Schema
  readonly required?: readonly string[]
  readonly items?: Schema
  readonly maxProperties?: number
  readonly minimum?: number
  readonly maximum?: number
  readonly exclusiveMinimum?: number
  readonly deprecated?: true
  readonly 'x-value'?: ScalarName
  readonly 'x-zero-is-default'?: true
  readonly 'x-empty-is-default'?: true
  /** Words a text may be, in any case; unlike `enum` the value may also be something else that is no text. */
  readonly 'x-words'?: readonly string[]
  readonly 'x-names'?: 'stores' | 'schedulers'
  /** The value is the path of a file or folder. Confined actions do not see it, unless it is `x-public`. */
  readonly 'x-path'?: boolean
  readonly 'x-public'?: boolean
  /** The property that is the key in the object form; the container becomes a Map by it. */
  readonly 'x-key'?: 'name' | 'instance_name'
  /** Entries without the key get their place in the list. */
  readonly 'x-key-optional'?: true
  /** An older object form: `field` of each entry by instance name under `key`, the other settings beside it. */
  readonly 'x-shared-form'?: { readonly key: string; readonly field: string }
  /** Exactly one of the referenced properties is given: the kind. */
  readonly 'x-kinds'?: string
  /** The kind that this one is another spelling of, and what that one is told besides. */
  readonly 'x-becomes'?: string
  readonly 'x-becomes-with'?: JsonObject
  /** Unknown keys are warned about only, always or when the object stands in an array. */
  readonly 'x-lenient'?: 'always' | 'array'
  readonly 'x-alias-of'?: string
  /** Names others have for this key, for suggestions only. */
  readonly 'x-also-called'?: readonly string[]
  /** What NativeLink takes when the key is left out, where that is not `default`: for the reference page. */
  readonly 'x-nativelink-default'?: string
  /** What is expected here, when the other keywords cannot say it in words. */
  readonly 'x-expected'?: string
  readonly 'x-alias-is-fine'?: true
  /** Accepted, and without effect: a text says why, `true` stands for "not available yet". A `default` is what is done anyway. */
  readonly 'x-ignored'?: true | string
  /** What the option asks for is done anyway, so that there is nothing to warn about. */
  readonly 'x-always-so'?: true
  readonly 'x-available'?: false
  /** Of what is not available: what to write instead. */
  readonly 'x-instead'?: string
}

const directory = new URL('../../../schema/', import.meta.url)
const baseUrl = 'https://remexec.invalid/schema/'

const readSchema = (name: string): Schema =>
  JSON.parse(readFileSync(new URL(name, directory), 'utf8'), (key, value) =>
    key === '$ref' ? new URL(value, new URL(name, baseUrl)).href : value,
  )

/** Every schema by its path below `schema/`, references made absolute. */
export const schemaFiles: ReadonlyMap<string, Schema> = new Map(
  readdirSync(directory, { recursive: true, encoding: 'utf8' })
    .map((name) => name.replaceAll('\\', '/'))
    .filter((name) => name.endsWith('.json'))
    .sort()
    .map((name) => [name, readSchema(name)]),
)

export const schemaFile = (name: string): Schema => {
  const schema = schemaFiles.get(name)
  if (schema === undefined) throw new Error(`there is no schema/${name}`)
  return schema
}

/** What a schema file gives a number that is left out. */
export const defaultNumber = (name: string, key: string): number => Number(schemaFile(name).properties?.[key]?.default)

/** What an object is whose keys are all left out: those that have a default, objects among them. */
export const defaultsOf = ({ properties = {} }: Schema): Readonly<Record<string, unknown>> =>
  Object.fromEntries(
    Object.entries(properties)
      .filter(([, property]) => property.default !== undefined)
      .map(([key, property]) => [key, property.properties ? defaultsOf(property) : property.default]),
  )

/** Follows `$ref`; keywords beside a reference win over those it leads to. */
export const resolve = (schema: Schema): Schema => {
  if (schema.$ref === undefined) return schema
  const { $ref, ...beside } = schema
  const [name = '', pointer = ''] = $ref.slice(baseUrl.length).split('#')
  const steps = pointer.split('/').slice(1)
  const target = steps.reduce<unknown>((at, step) => (at as Readonly<Record<string, unknown>>)[step], schemaFile(name))
  return { ...resolve(target as Schema), ...beside }
}

/** The keys of an entry that are kinds: those whose schema is a file of its own. */
export const kindNames = (schema: Schema): readonly string[] =>
  Object.entries(schema.properties ?? {})
    .filter(([key]) => key !== 'name')
    .map(([key]) => key)

/** Properties whose use is not advised against and whose code is there. */
export const offeredKeys = (schema: Schema): readonly string[] =>
  Object.entries(schema.properties ?? {})
    .map(([key, property]) => [key, resolve(property)] as const)
    .filter(([, property]) => !property.deprecated && property['x-available'] !== false && !property['x-ignored'])
    .map(([key]) => key)

/** The kinds an entry names, in the order in which it names them; right is exactly one. */
export const kindsIn = (schema: Schema, entry: JsonObject): readonly string[] => {
  const known = kindNames(schema)
  return Object.keys(entry).filter((key) => known.includes(key))
}
