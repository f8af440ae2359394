import { readdirSync, readFileSync } from 'node:fs'
import { packageFile } from '../../base/package-root.js'
import type { JsonObject, JsonValue } from '../read/document.js'
import type { ScalarName } from '../value/scalar.js'

/**
 * A schema of this project: the used keywords of JSON Schema, and annotations. These say how a value is read
 * (`x-value`, `x-words`), what it refers to (`x-names`), how a container may be written (`x-key`), and how an
 * option is treated (`x-alias-of`, `x-ignored`, `x-available`).
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
  /** Allowed words of a text, in any case. Unlike with `enum`, values of other types are allowed too. */
  readonly 'x-words'?: readonly string[]
  readonly 'x-names'?: 'stores' | 'schedulers'
  /** The value is the path of a file or folder. Confined actions cannot see it, unless it is `x-public`. */
  readonly 'x-path'?: boolean
  readonly 'x-public'?: boolean
  /** The property that is the key in the object form, and in the normalised Map. */
  readonly 'x-key'?: 'name' | 'instance_name'
  /** An entry without a key is named after its index. */
  readonly 'x-key-optional'?: true
  /** An older object form: `field` of each entry by instance name under `key`, the other settings beside it. */
  readonly 'x-shared-form'?: { readonly key: string; readonly field: string }
  /** Exactly one of the referenced properties must be present: the kind. */
  readonly 'x-kinds'?: string
  /** The current name of this kind, and the options to add. */
  readonly 'x-becomes'?: string
  readonly 'x-becomes-with'?: JsonObject
  /** Unknown keys are only warnings: always, or if the object is in an array. */
  readonly 'x-lenient'?: 'always' | 'array'
  readonly 'x-alias-of'?: string
  /** Names of this key elsewhere, only for suggestions. */
  readonly 'x-also-called'?: readonly string[]
  /** NativeLink's default if it differs from `default`, for the reference page. */
  readonly 'x-nativelink-default'?: string
  /** The expected value in words, if the other keywords do not express it. */
  readonly 'x-expected'?: string
  readonly 'x-alias-is-fine'?: true
  /**
   * Accepted without effect. A text says why; `true` means "not available yet". A `default` is the actual
   * behaviour.
   */
  readonly 'x-ignored'?: true | string
  /** The option requests what always happens, so no warning is needed. */
  readonly 'x-always-so'?: true
  readonly 'x-available'?: false
  /** What to use instead of an unavailable option. */
  readonly 'x-instead'?: string
}

const directory = packageFile('schema/')
const baseUrl = 'https://remexec.invalid/schema/'

const readSchema = (name: string): Schema =>
  JSON.parse(readFileSync(new URL(name, directory), 'utf8'), (key, value) =>
    key === '$ref' ? new URL(value, new URL(name, baseUrl)).href : value,
  )

/** Every schema by its path in `schema/`, with absolute references. */
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

/** The default of a number in a schema file. */
export const defaultNumber = (name: string, key: string): number => Number(schemaFile(name).properties?.[key]?.default)

/** An object made of the defaults of its keys. */
export const defaultsOf = ({ properties = {} }: Schema): Readonly<Record<string, unknown>> =>
  Object.fromEntries(
    Object.entries(properties)
      .filter(([, property]) => property.default !== undefined)
      .map(([key, property]) => [key, property.properties ? defaultsOf(property) : property.default]),
  )

/** Follows `$ref`. Keywords beside a reference take precedence over those of its target. */
export const resolve = (schema: Schema): Schema => {
  if (schema.$ref === undefined) return schema
  const { $ref, ...beside } = schema
  const [name = '', pointer = ''] = $ref.slice(baseUrl.length).split('#')
  const steps = pointer.split('/').slice(1)
  const target = steps.reduce<unknown>((at, step) => (at as Readonly<Record<string, unknown>>)[step], schemaFile(name))
  return { ...resolve(target as Schema), ...beside }
}

/** The keys of an entry that are kinds: those whose schema is a separate file. */
export const kindNames = (schema: Schema): readonly string[] =>
  Object.entries(schema.properties ?? {})
    .filter(([key]) => key !== 'name')
    .map(([key]) => key)

/** Properties that are available and neither deprecated nor ignored. */
export const offeredKeys = (schema: Schema): readonly string[] =>
  Object.entries(schema.properties ?? {})
    .map(([key, property]) => [key, resolve(property)] as const)
    .filter(([, property]) => !property.deprecated && property['x-available'] !== false && !property['x-ignored'])
    .map(([key]) => key)

/** The kinds that an entry names, in its order; a valid entry names exactly one. */
export const kindsIn = (schema: Schema, entry: JsonObject): readonly string[] => {
  const known = kindNames(schema)
  return Object.keys(entry).filter((key) => known.includes(key))
}
