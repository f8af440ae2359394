import type { JsonObject, JsonValue } from '../read/document.js'
import type { Path } from '../read/path.js'
import { resolve, type Schema } from './schema.js'

/** An entry of a container that may be an array or an object. */
export interface Entry {
  /** Undefined if an array entry has no key. */
  readonly key: string | undefined
  readonly keyPath: Path
  readonly path: Path
  readonly schema: Schema
  readonly value: JsonValue
}

/** The entries of a container in either form. In the object form the key is also added to the entry. */
export const entriesOf = (container: Schema, value: JsonValue, path: Path): readonly Entry[] => {
  const keyName = container['x-key'] ?? 'name'
  if (Array.isArray(value)) {
    const items = value as readonly JsonValue[]
    return items.map((item, index) => arrayEntry(container, item, [...path, index], keyName))
  }
  const schema = typeof container.additionalProperties === 'object' ? container.additionalProperties : {}
  return Object.entries(value as JsonObject).map(([key, item]) => {
    const entryPath = [...path, key]
    const takesKey = isObject(item) && resolve(schema).properties?.[keyName] !== undefined
    return { key, keyPath: entryPath, path: entryPath, schema, value: takesKey ? { ...item, [keyName]: key } : item }
  })
}

const arrayEntry = (container: Schema, item: JsonValue, path: Path, keyName: string): Entry => {
  const written = isObject(item) ? item[keyName] : undefined
  const entry = { path, schema: container.items ?? {}, value: item }
  if (typeof written === 'string') return { ...entry, key: written, keyPath: [...path, keyName] }
  return { ...entry, key: keyWhenLeftOut(container, path), keyPath: path }
}

const keyWhenLeftOut = (container: Schema, path: Path): string | undefined => {
  if (container['x-key'] === 'instance_name') return ''
  return container['x-key-optional'] ? String(path.at(-1)) : undefined
}

const isObject = (value: JsonValue): value is JsonObject =>
  typeof value === 'object' && value !== null && !Array.isArray(value)
