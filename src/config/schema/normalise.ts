import { resolve as absolute } from 'node:path'
import type { Findings } from '../findings.js'
import type { JsonObject, JsonValue } from '../read/document.js'
import { type Path, pathText } from '../read/path.js'
import { oneOf } from '../suggest.js'
import { scalarKind } from '../value/scalar.js'
import { describeFound } from './describe.js'
import { type Entry, entriesOf } from './entries.js'
import { canonicalWord, isUnset } from './keywords.js'
import { Origins } from './origins.js'
import { kindsIn, offeredKeys, resolve, type Schema, schemaFile } from './schema.js'

/** A value that names a store or a scheduler. */
export interface Reference {
  readonly path: Path
  readonly to: 'stores' | 'schedulers'
  readonly name: string
}

/** Thrown for an unusable value whose error was reported. The enclosing entry is dropped. */
class Unusable extends Error {}

/**
 * Converts a checked document to its normalised form, as the schema describes: parses values, adds defaults,
 * turns containers into Maps and older spellings into current ones. After an error it drops the enclosing
 * entry and continues, so that the rest can still be checked.
 */
export class Normaliser {
  readonly references: Reference[] = []
  /** Absolute paths that the document names, without public ones. */
  readonly paths = new Set<string>()
  /** Where each store and scheduler is defined, also if it is unusable. */
  readonly declared = { stores: new Map<string, Path>(), schedulers: new Map<string, Path>() }
  readonly origins = new Origins()
  readonly #findings: Findings

  constructor(findings: Findings) {
    this.#findings = findings
  }

  /** The normalised document; undefined if all of it is unusable. */
  document(root: JsonValue): Readonly<Record<string, unknown>> | undefined {
    const normalised = this.#attempt(() => this.#value(schemaFile('config.json'), root, []))
    return normalised instanceof Unusable ? undefined : (normalised as Readonly<Record<string, unknown>>)
  }

  #value(unresolved: Schema, value: JsonValue, path: Path): unknown {
    const schema = resolve(unresolved)
    if (this.#findings.isWrong(path)) {
      this.#namesIn(schema, value, path)
      throw new Unusable()
    }
    if (schema['x-key']) return this.#container(schema, value, path)
    if (schema['x-kinds']) return this.#kind(schema, value as JsonObject, path)
    if (schema['x-value'] && !Array.isArray(value)) return this.#scalar(schema, value, path)
    if (schema.type === 'array') {
      return (value as readonly JsonValue[]).map((item, index) =>
        this.#value(schema.items ?? {}, item, [...path, index]),
      )
    }
    if (typeof value === 'string') return this.#text(schema, value, path)
    return schema.properties
      ? this.#object(schema, value as JsonObject, path)
      : this.#map(schema, value as JsonObject, path)
  }

  /** Collects the names that an unusable object refers to, so that unknown ones are reported at once. */
  #namesIn(schema: Schema, value: JsonValue, path: Path): void {
    const isPlain = schema.properties !== undefined && !schema['x-kinds'] && !schema['x-key']
    if (isPlain && typeof value === 'object' && value !== null && !Array.isArray(value))
      this.#attempt(() => this.#object(schema, value as JsonObject, path))
  }

  #scalar(schema: Schema, value: JsonValue, path: Path): unknown {
    const { 'x-value': name = 'count', default: otherwise } = schema
    if (otherwise !== undefined && isUnset(name, value)) return this.#value(schema, otherwise, path)
    const parsed = scalarKind(name).parse(value as string | number | boolean)
    if (parsed !== 0 || !schema['x-zero-is-default'] || otherwise === undefined) return parsed
    this.#findings.warning(path, `0 means the default here, which is ${describeFound(otherwise)}`)
    return this.#value(schema, otherwise, path)
  }

  #text(schema: Schema, value: string, path: Path): string {
    const words = schema['x-words']
    if (schema['x-names']) this.references.push({ path, to: schema['x-names'], name: value })
    if (value === '' && schema['x-empty-is-default'] && typeof schema.default === 'string') return schema.default
    if (schema['x-path'] && value.includes('\0')) {
      this.#findings.error(path, 'the path has a character NUL, which no path can have', {
        found: JSON.stringify(value),
        expected: 'a path without it',
      })
      throw new Unusable()
    }
    if (schema['x-path'] && !schema['x-public'] && value !== '') this.paths.add(absolute(value))
    return (words && canonicalWord(words, value)) ?? value
  }

  #map(schema: Schema, value: JsonObject, path: Path): ReadonlyMap<string, unknown> {
    const item = schema.additionalProperties
    if (typeof item !== 'object') return new Map()
    return new Map(Object.entries(value).map(([key, inner]) => [key, this.#value(item, inner, [...path, key])]))
  }

  #object(schema: Schema, value: JsonObject, path: Path): object {
    const entries = Object.keys(schema.properties ?? {}).flatMap((key) => this.#property(schema, key, value, path))
    if (entries.some(([, inner]) => inner instanceof Unusable)) throw new Unusable()
    return this.origins.record(Object.fromEntries(entries), path)
  }

  /**
   * The entry of one property, if any. An unusable value is returned as `Unusable`, so that the other
   * properties are still checked.
   */
  #property(schema: Schema, key: string, value: JsonObject, path: Path): readonly (readonly [string, unknown])[] {
    const property = resolve(schema.properties?.[key] ?? {})
    if (property['x-alias-of']) return []
    const spelling = this.#spelling(schema, key, value, path)
    const given = value[spelling]
    const isDefault = given === undefined || sameValue(property, given)
    const keyPath = [...path, spelling]
    if (property['x-ignored']) {
      if (!isDefault && !property['x-always-so']) this.#ignored(property, spelling, keyPath)
      return []
    }
    if (property['x-available'] === false && isDefault) return []
    if (property['x-available'] === false) {
      this.#findings.error(keyPath, `${pathText([spelling])} is not available yet`, {
        at: 'key',
        found: describeFound(given),
        expected: property['x-instead'],
      })
    }
    if (given === undefined && property.default === undefined) return []
    return [[key, this.#attempt(() => this.#value(property, given ?? property.default ?? null, keyPath))]]
  }

  /** The spelling that the file uses for `key`: itself or an older one. */
  #spelling(schema: Schema, key: string, value: JsonObject, path: Path): string {
    const aliases = Object.entries(schema.properties ?? {})
      .map(([alias, property]) => [alias, resolve(property)] as const)
      .filter(([, property]) => property['x-alias-of'] === key)
    const [used] = aliases.filter(([alias]) => value[alias] !== undefined)
    if (used === undefined) return key
    const [alias, property] = used
    if (value[key] !== undefined) {
      this.#findings.error([...path, alias], `${alias} and ${key} are two spellings of one key`, {
        at: 'key',
        expected: `only ${key}`,
      })
    } else if (!property['x-alias-is-fine']) {
      this.#findings.warning([...path, alias], `${alias} is an older spelling`, { at: 'key', suggestion: key })
    }
    return alias
  }

  #ignored(property: Schema, key: string, path: Path): void {
    const { deprecated, description = '', 'x-ignored': why } = property
    const obsolete = `${description.charAt(0).toLowerCase()}${description.slice(1).replace(/\.$/, '')}`
    const reason = deprecated ? obsolete : typeof why === 'string' ? why : 'not available yet'
    this.#findings.warning(path, `${key} has no effect: ${reason}`, { at: 'key' })
  }

  #kind(schema: Schema, value: JsonObject, path: Path): object {
    const [kind = '', ...others] = kindsIn(schema, value)
    if (path.length > ENTRY_DEPTH && value['name'] !== undefined) {
      const container = `${schema['x-kinds']}s`
      this.#findings.warning([...path, 'name'], `name has no effect: only an entry of ${container} has a name`, {
        at: 'key',
        expected: `an entry of ${container} with that name, and a reference to it here`,
      })
    }
    for (const other of others) {
      this.#findings.warning(
        [...path, other],
        `${other} is ignored: the ${schema['x-kinds']} already is of kind ${kind}`,
        { at: 'key' },
      )
    }
    const options = resolve(schema.properties?.[kind] ?? {})
    const keyPath = [...path, kind]
    if (options['x-available'] === false) {
      this.#findings.error(keyPath, `${schema['x-kinds']} kind "${kind}" is not available yet`, {
        at: 'key',
        found: kind,
        expected: oneOf(offeredKeys(schema).filter((offered) => offered !== 'name')),
      })
      // Normalised only to collect the names that it refers to.
      this.#attempt(() => this.#object(options, value[kind] as JsonObject, keyPath))
      throw new Unusable()
    }
    const newer = options['x-becomes-with']
    if (newer !== undefined) return this.#newerKind(schema, options, kind, value, keyPath)
    const normalised = this.#value(options, value[kind] ?? {}, keyPath) as object
    return options['x-becomes'] === 'local'
      ? { kind: 'local', options: this.#asLocal(normalised, keyPath) }
      : { kind, options: normalised }
  }

  /** Converts a kind with an older name. */
  #newerKind(schema: Schema, options: Schema, kind: string, value: JsonObject, keyPath: Path): object {
    const { 'x-becomes': becomes = '', 'x-becomes-with': given = {} } = options
    this.#findings.warning(keyPath, `${kind} is an older spelling`, {
      at: 'key',
      expected: `${becomes} with ${Object.entries(given)
        .map(([key, text]) => `${key}: '${text}'`)
        .join(', ')}`,
    })
    const newer = { ...given, ...(value[kind] as JsonObject) }
    return { kind: becomes, options: this.#value(schema.properties?.[becomes] ?? {}, newer, keyPath) }
  }

  /** Converts the worker form with a plain scheduler address to a local worker. */
  #asLocal(worker: object, path: Path): object {
    const { scheduler_endpoint: uri = '', ...others } = worker as { readonly scheduler_endpoint?: string }
    const endpoint = schemaFile('worker/local.json').properties?.['worker_api_endpoint'] ?? {}
    const local = { ...others, worker_api_endpoint: this.#value(endpoint, { uri }, [...path, 'scheduler_endpoint']) }
    return this.origins.record(local, path)
  }

  #container(schema: Schema, value: JsonValue, path: Path): ReadonlyMap<string, unknown> {
    const shared = schema['x-shared-form']
    if (shared && (value as JsonObject)[shared.key] !== undefined) {
      return this.#sharedForm(schema, value as JsonObject, path, shared)
    }
    const taken = new Set<string>()
    const entries = new Map<string, unknown>()
    for (const entry of entriesOf(schema, value, path)) {
      const { key } = entry
      if (key === undefined) this.#unnamed(entry)
      else if (taken.has(key)) this.#takenTwice(schema, entry, path)
      else {
        taken.add(key)
        if (isDeclaring(path)) this.declared[path[0]].set(key, entry.path)
        const normalised = this.#attempt(() => this.#value(entry.schema, entry.value, entry.path))
        if (!(normalised instanceof Unusable)) entries.set(key, normalised)
      }
    }
    return entries
  }

  #unnamed({ path, value }: Entry): void {
    // A name of the wrong type was reported.
    if (this.#findings.isWrong(path) || this.#findings.isWrong([...path, 'name'])) return
    this.#findings.error(path, '"name" is missing', { found: describeFound(value), expected: 'name: text in quotes' })
  }

  #takenTwice(schema: Schema, { key, keyPath }: Entry, path: Path): void {
    const what = schema['x-key'] === 'name' ? 'name' : 'instance name'
    const found = JSON.stringify(key)
    const message = `the ${what} ${found} is used twice in ${pathText(path)}`
    this.#findings.error(keyPath, message, { found, expected: 'another one' })
  }

  /**
   * Converts the older bytestream form: the stores by instance name under one key, their common settings
   * beside it.
   */
  #sharedForm(schema: Schema, value: JsonObject, path: Path, { key, field }: SharedForm): ReadonlyMap<string, unknown> {
    this.#findings.warning([...path, key], `${key} is an older form`, {
      at: 'key',
      expected: `a list of {instance_name, ${field}, ...}`,
    })
    const { [key]: storesSchema = {}, ...settingsSchema } = schema.properties ?? {}
    const { [key]: stores = {}, ...settings } = value
    const common = this.#object({ properties: settingsSchema }, settings, path)
    const names = this.#value(storesSchema, stores, [...path, key]) as ReadonlyMap<string, string>
    return new Map(
      [...names].map(([instance_name, name]) => {
        const entry = { ...common, instance_name, [field]: name }
        return [instance_name, this.origins.record(entry, [...path, key, instance_name])]
      }),
    )
  }

  #attempt(read: () => unknown): unknown {
    try {
      return read()
    } catch (error) {
      if (error instanceof Unusable) return error
      throw error
    }
  }
}

/** Path length of a named entry: `stores[0]`, `schedulers.MAIN`. */
const ENTRY_DEPTH = 2

type SharedForm = NonNullable<Schema['x-shared-form']>

const isDeclaring = (path: Path): path is readonly ['stores' | 'schedulers'] =>
  path.length === 1 && (path[0] === 'stores' || path[0] === 'schedulers')

/** Whether a value is the same as the default. */
const sameValue = ({ default: otherwise, 'x-value': name }: Schema, given: JsonValue): boolean => {
  if (name && otherwise !== undefined && ['string', 'number', 'boolean'].includes(typeof given)) {
    const { parse } = scalarKind(name)
    try {
      return parse(given as string | number | boolean) === parse(otherwise as string | number | boolean)
    } catch {
      return false
    }
  }
  return JSON.stringify(given) === JSON.stringify(otherwise)
}
