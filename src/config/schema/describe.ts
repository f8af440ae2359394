import type { JsonValue } from '../read/document.js'
import { scalarKind } from '../value/scalar.js'
import type { Schema } from './schema.js'

const LONGEST_FOUND = 60

/** A value as text for a message; long values are cut. */
export const describeFound = (value: JsonValue | undefined): string => {
  if (value === undefined) return 'nothing'
  if (Array.isArray(value)) return value.length === 0 ? 'an empty list' : 'a list'
  if (typeof value === 'object' && value !== null) {
    const keys = Object.keys(value)
    return keys.length === 0 ? 'an empty object' : `an object with ${shorten(keys.join(', '))}`
  }
  return typeof value === 'number' ? String(value) : shorten(JSON.stringify(value))
}

const shorten = (text: string): string =>
  text.length <= LONGEST_FOUND ? text : `${text.slice(0, LONGEST_FOUND)}... (${text.length} characters)`

/** Describes the values that a schema allows, for authors of configurations. */
export const describeExpected = (schema: Schema): string => {
  if (schema['x-expected']) return schema['x-expected']
  const words = schema.enum ?? schema['x-words']
  if (schema['x-value']) return scalarKind(schema['x-value']).expected
  if (words) {
    const text = `one of ${words.join(', ')}`
    return schema.properties ? `${text}, or an object with ${Object.keys(schema.properties).join(' or ')}` : text
  }
  if (schema.maxProperties === 1)
    return `an object with exactly one of ${Object.keys(schema.properties ?? {}).join(', ')}`
  if (schema['x-kinds']) return `an object with one ${schema['x-kinds']} kind`
  const types = typeof schema.type === 'string' ? [schema.type] : (schema.type ?? [])
  return types.map((type) => TYPE_WORDS[type] ?? type).join(' or ') || 'another value'
}

const TYPE_WORDS: Readonly<Record<string, string>> = {
  array: 'a list',
  object: 'an object',
  string: 'text in quotes',
  integer: 'a whole number',
  number: 'a number',
  boolean: 'true or false',
}
