// The schema files as the generators see them: references resolved, and what a normalised configuration no longer has left out.
import { readdirSync, readFileSync } from 'node:fs'

const root = new URL('../schema/', import.meta.url)
const files = readdirSync(root, { recursive: true }).filter((name) => name.endsWith('.json'))
const schemas = new Map(files.map((name) => [name, JSON.parse(readFileSync(new URL(name, root), 'utf8'))]))
const base = new URL('.', schemas.get('config.json').$id)

/** Names of the schema files under `folder`, in the order in which `entry` lists the kinds. */
export const kindsOf = (entry) =>
  Object.entries(schemas.get(entry).properties)
    .filter(([, schema]) => schema.$ref)
    .map(([kind, schema]) => [kind, schema.$ref])

export const load = (file) => ({ file, schema: schemas.get(file) })

/** Follows a reference: the schema it leads to with the keywords beside `$ref` on top, the same without them (`own`), and its file. */
export const follow = ({ file, schema }) => {
  if (!schema.$ref) return { file, schema, own: schema }
  const { $ref, ...beside } = schema
  const url = new URL($ref, new URL(file, base))
  const target = url.pathname.slice(base.pathname.length)
  const steps = url.hash.split('/').slice(1)
  const found = steps.reduce((at, step) => at[decodeURIComponent(step)], schemas.get(target))
  const { file: finalFile, schema: final } = follow({ file: target, schema: found })
  return { file: finalFile, schema: { ...final, ...beside }, own: final }
}

/** Whether a normalised configuration still has what this schema describes. */
export const isKept = ({ file, schema }) => {
  const target = follow({ file, schema }).schema
  if (target['x-alias-of'] || target['x-ignored'] || target['x-available'] === false) return false
  const inner = Object.values(target.properties ?? {})
  return (
    inner.length === 0 || inner.some((property) => isKept({ file: follow({ file, schema }).file, schema: property }))
  )
}

/** Every schema by its file, with references that are absolute, as src/config/schema/schema.ts has them. */
export const absoluteSchemas = () =>
  new Map([...schemas].sort().map(([name, schema]) => [name, absolute(schema, name)]))

const absolute = (value, name) => {
  if (Array.isArray(value)) return value.map((entry) => absolute(entry, name))
  if (typeof value !== 'object' || value === null) return value
  const entries = Object.entries(value).map(([key, inner]) => [
    key,
    key === '$ref' ? new URL(inner, new URL(name, base)).href : absolute(inner, name),
  ])
  return Object.fromEntries(entries)
}
