// The TypeScript types of a normalised configuration: sizes are bytes, maps are Maps, what has a default is always there.
import { compile } from 'json-schema-to-typescript'
import { follow, isKept, kindsOf, load } from './config-schema.mjs'

const pascal = (name) => name.replace(/(?:^|_)(\w)/g, (_, letter) => letter.toUpperCase())
const quoted = (words) => words.map((word) => `'${word}'`).join(' | ')
const titled = new Map()

const typeName = ({ file, schema }) => {
  const [folder, kind] = file.replace('.json', '').split('/')
  if (!schema.$id) return schema.title
  if (folder === 'store' && kind) return `${pascal(kind)}Options`
  if (folder === 'scheduler' || folder === 'worker' || folder === 'service')
    return `${pascal(kind)}${pascal(folder)}Options`
  return folder === 'shared' ? schema.title : `${schema.title}Options`
}

const scalar = (schema) => {
  if (schema['x-words']) return quoted(schema['x-words'])
  if (schema.enum) return quoted(schema.enum)
  if (schema['x-value']) return schema['x-value'] === 'bool' ? 'boolean' : 'number'
  return 'string'
}

/** TypeScript text for one value; objects with fixed properties become interfaces of their own. */
const typeText = (at) => {
  const { file, schema, own } = follow(at)
  if (schema.$id?.endsWith('/store.json')) return 'StoreConfig'
  if (schema.$id?.endsWith('/scheduler.json')) return 'SchedulerConfig'
  if (schema.type === 'array') return `readonly ${arrayItem(typeText({ file, schema: schema.items }))}[]`
  if (schema.properties && schema.maxProperties === 1) return oneOf(file, schema)
  if (Array.isArray(schema.type) && schema.type.includes('object')) {
    const kept = Object.values(schema.properties).some((property) => isKept({ file, schema: property }))
    return kept ? oneOf(file, schema) : scalar(schema)
  }
  if (schema.additionalProperties) {
    return `ReadonlyMap<string, ${typeText({ file, schema: schema.additionalProperties })}>`
  }
  if (schema.type === 'object') return interfaceName({ file, schema: own })
  return scalar(schema)
}

const arrayItem = (text) => (/^\w+$/.test(text) ? text : `(${text})`)

const oneOf = (file, schema) => {
  const objects = Object.entries(schema.properties).map(
    ([key, value]) => `{ readonly ${key}: ${typeText({ file, schema: value })} }`,
  )
  return [...(schema['x-words'] ? [quoted(schema['x-words'])] : []), ...objects].join(' | ')
}

const interfaceName = (at) => {
  const name = typeName(at) ?? `${pascal(at.file.split('/').pop().replace('.json', ''))}Value`
  if (!titled.has(name)) titled.set(name, null)
  if (titled.get(name) === null) titled.set(name, interfaceSchema(at, name))
  return name
}

const interfaceSchema = ({ file, schema }, title) => {
  const kept = Object.entries(schema.properties).filter(([, property]) => isKept({ file, schema: property }))
  const properties = kept.map(([key, property]) => {
    const { description } = follow({ file, schema: property }).schema
    return [key, { description: property.description ?? description, tsType: typeText({ file, schema: property }) }]
  })
  const isAlwaysThere = ([key, property]) => {
    const { schema: target } = follow({ file, schema: property })
    return schema.required?.includes(key) || 'default' in target || target['x-filled']
  }
  return {
    title,
    description: schema.description,
    type: 'object',
    properties: Object.fromEntries(properties),
    required: kept.filter(isAlwaysThere).map(([key]) => key),
    additionalProperties: false,
  }
}

const kindUnion = (name, entry) => {
  const kept = kindsOf(entry)
    .map(([kind, ref]) => [kind, load(ref)])
    .filter(([, at]) => isKept(at) && !at.schema['x-becomes'])
  const members = kept.map(([kind, at]) => `  readonly ${kind}: ${interfaceName(at)}`)
  return `/** The options of every ${name.toLowerCase()} kind whose code is there, by the key it has in the configuration. */
export interface ${name}Options {
${members.join('\n')}
}

export type ${name}Kind = keyof ${name}Options

/** A ${name.toLowerCase()} of one kind; \`kind\` tells which options these are. */
export type ${name}Config = {
  [Kind in ${name}Kind]: { readonly kind: Kind; readonly options: ${name}Options[Kind] }
}[${name}Kind]
`
}

const services = [
  'cas',
  'ac',
  'capabilities',
  'execution',
  'fetch',
  'push',
  'bytestream',
  'http_cache',
  'worker_api',
  'health',
  'pages',
  'admin',
  'metrics',
  'build_events',
  'experimental_bep',
]

export const configTypes = async () => {
  const unions = [
    kindUnion('Store', 'store.json'),
    kindUnion('Scheduler', 'scheduler.json'),
    kindUnion('Worker', 'worker.json'),
  ]
  for (const name of services) interfaceName(load(`service/${name}.json`))
  for (const file of ['global.json', 'listener.json', 'instance.json', 'security.json']) interfaceName(load(file))
  const interfaces = []
  for (const [name, schema] of titled) {
    const text = await compile(schema, name, {
      bannerComment: '',
      additionalProperties: false,
      style: { semi: false, singleQuote: true, printWidth: 120 },
    })
    interfaces.push(text.replace(/^( {2})(?=\w+\??:)/gm, '$1readonly '))
  }
  return `// Written by scripts/generate-config.mjs from schema/: change the schema and run npm run generate.\n\n${[...unions, ...interfaces].join('\n')}`
}
