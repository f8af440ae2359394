import type { ErrorObject } from 'ajv'
import type { Findings } from '../findings.js'
import { validator } from '../generated/validator.js'
import type { Document, JsonObject, JsonValue } from '../read/document.js'
import { type Path, pathKey } from '../read/path.js'
import { nearest, oneOf } from '../suggest.js'
import { describeExpected, describeFound } from './describe.js'
import type { Literals } from './keywords.js'
import { kindNames, offeredKeys, resolve, type Schema } from './schema.js'

/** An error of ajv with its path in the document. */
interface Complaint {
  readonly error: ErrorObject
  readonly path: Path
  readonly schema: Schema
  readonly value: JsonValue
}

/** Checks `root`, the document with expanded environment variables, against the schema. Reports every fault. */
export const validate = (root: JsonValue, document: Document, findings: Findings): void => {
  const pathOf = (pointer: string): Path => pathFromPointer(root, pointer)
  const literals: Literals = { isFloatLiteral: (pointer) => document.isFloatLiteral(pathOf(pointer)) }
  if (validator.call(literals, root)) return
  const complaints = (validator.errors ?? []).map((error) => ({
    error,
    path: pathOf(error.instancePath),
    schema: error.parentSchema as Schema,
    value: error.data as JsonValue,
  }))
  const report = new Report(complaints, findings)
  for (const complaint of complaints) report.add(complaint)
}

const pathFromPointer = (root: JsonValue, pointer: string): Path => {
  const path: (string | number)[] = []
  let at: JsonValue | undefined = root
  for (const step of pointer.split('/').slice(1)) {
    const key = step.replaceAll('~1', '/').replaceAll('~0', '~')
    path.push(Array.isArray(at) ? Number(key) : key)
    at = (at as JsonObject | undefined)?.[key]
  }
  return path
}

/** Turns ajv's errors into findings, at most one for each mistake. */
class Report {
  /** By path and keyword. */
  readonly #byPlace = new Map<string, Complaint[]>()
  readonly #findings: Findings

  constructor(complaints: readonly Complaint[], findings: Findings) {
    this.#findings = findings
    for (const complaint of complaints) {
      const key = placeOf(complaint.path, complaint.error.keyword)
      const same = this.#byPlace.get(key)
      if (same === undefined) this.#byPlace.set(key, [complaint])
      else same.push(complaint)
    }
  }

  add(complaint: Complaint): void {
    const { error } = complaint
    if (error.keyword === 'additionalProperties')
      this.#unknownKey(complaint, String(error.params['additionalProperty']))
    else if (error.keyword === 'required') this.#missingKey(complaint, String(error.params['missingProperty']))
    else if (error.keyword === 'x-kinds') this.#noKind(complaint)
    else if (!this.#findings.isWrong(complaint.path)) this.#wrongValue(complaint)
  }

  #unknownKey(complaint: Complaint, key: string): void {
    const { path, schema, value } = complaint
    const isKind = this.#at(path, 'x-kinds').length > 0
    const isFree = (name: string) => !Object.hasOwn(value as JsonObject, name)
    const known = isKind ? kindNames(schema) : Object.keys(schema.properties ?? {})
    const suggestion = alsoCalled(key, schema) ?? nearest(key, known.filter(isFree))
    const offered = offeredKeys(schema).filter((name) => isFree(name) && known.includes(name))
    const replacesMissing = suggestion !== undefined && this.#missing(path).includes(suggestion)
    const isWarning = isLenient(schema, path) && !isKind && !replacesMissing
    const what = isKind ? `unknown ${schema['x-kinds']} kind` : 'unknown key'
    this.#findings[isWarning ? 'warning' : 'error'](
      [...path, key],
      `${what} "${key}"${isWarning ? ' is ignored' : ''}`,
      {
        at: 'key',
        found: key,
        expected: offered.length > 0 ? oneOf(offered) : 'no other key',
        suggestion,
      },
    )
    if (replacesMissing || isKind) this.#findings.markWrong(path)
  }

  #missingKey(complaint: Complaint, key: string): void {
    const { path, schema } = complaint
    const misspelt = this.#at(path, 'additionalProperties').map(({ error }) =>
      String(error.params['additionalProperty']),
    )
    this.#findings.markWrong(path)
    const isOnlyKey = Object.keys(schema.properties ?? {}).length === 1
    if (isOnlyKey && misspelt.length > 0) return
    const meant = (word: string) => alsoCalled(word, schema) ?? nearest(word, Object.keys(schema.properties ?? {}))
    if (misspelt.some((word) => meant(word) === key)) return
    const wanted = resolve(schema.properties?.[key] ?? {})
    this.#findings.error(path, `"${key}" is missing`, {
      found: describeFound(complaint.value),
      expected: `${key}: ${describeExpected(wanted)}`,
    })
  }

  /**
   * A misspelt kind is reported as an unknown key. This is reported only for entries without another unknown
   * key.
   */
  #noKind({ path, schema, value }: Complaint): void {
    if (this.#at(path, 'additionalProperties').length > 0) return
    this.#findings.error(path, `this names no ${schema['x-kinds']} kind`, {
      found: describeFound(value),
      expected: oneOf(offeredKeys(schema).filter((kind) => kind !== 'name')),
    })
  }

  #wrongValue({ error, path, schema, value }: Complaint): void {
    const found = describeFound(value)
    const words = schema.enum ?? schema['x-words']
    const expected = describeExpected(schema)
    const suggestion = words && typeof value === 'string' ? nearest(value, words) : undefined
    this.#findings.error(path, messageOf(error, found), { found, expected, suggestion })
  }

  #at(path: Path, keyword: string): readonly Complaint[] {
    return this.#byPlace.get(placeOf(path, keyword)) ?? []
  }

  #missing(path: Path): readonly string[] {
    return this.#at(path, 'required').map(({ error }) => String(error.params['missingProperty']))
  }
}

const placeOf = (path: Path, keyword: string): string => `${keyword} ${pathKey(path)}`

/** The key that has this name elsewhere. */
const alsoCalled = (name: string, { properties = {} }: Schema): string | undefined =>
  Object.entries(properties).find(([, property]) => property['x-also-called']?.includes(name.toLowerCase()))?.[0]

/** Whether NativeLink silently ignores unknown keys here, so they must not be errors. */
const isLenient = ({ 'x-lenient': when }: Schema, path: Path): boolean =>
  when === 'always' || (when === 'array' && typeof path.at(-1) === 'number')

const messageOf = ({ keyword, message, params }: ErrorObject, found: string): string => {
  switch (keyword) {
    case 'type':
      return `${found} has the wrong type`
    case 'enum':
    case 'x-words':
      return `${found} is not one of the words known here`
    case 'pattern':
      return `${found} is not what is expected here`
    case 'x-value':
      return `${found}: ${message}`
    case 'minProperties':
    case 'minItems':
      return `${found} has too few entries: at least ${params['limit']} is needed`
    case 'maxProperties':
      return `${found} has too many entries: at most ${params['limit']} is allowed`
    default:
      return `${found} ${message}`
  }
}
