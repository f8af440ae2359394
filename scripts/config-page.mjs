// The reference page of the configuration, from the descriptions and defaults in schema/.
import { existsSync, readFileSync } from 'node:fs'
import { follow, kindsOf, load } from './config-schema.mjs'

const intro = `<!-- Written by scripts/config-page.mjs from schema/: change the schema and run npm run generate. -->
# Configuration

One file in JSON5 (JSON is a part of it), named on the command line: \`remexec CONFIG\`. \`remexec validate CONFIG...\` checks files
without serving, with the same code; \`--format json\` is for programs. \`deploy/recipes/\` has tested examples.

## How values are written

- \`stores\`, \`schedulers\`, \`workers\`, \`servers\`, \`instances\` and each service with instances are an array of entries that carry their name
  (\`name\`, \`instance_name\`) or an object by that name.
- A **size** is an integer of bytes or text with a unit: \`10gb\` is 10^10, \`10GiB\` is 10 * 2^30. Case does not matter.
- A **duration** is an integer, or text such as \`90s\`, \`1m 10s\`, \`1h2m3s\`, \`250ms\`; what an integer counts, with or without quotes,
  stands with the key. What is finer than a millisecond is refused. \`M\` is a month, \`m\` a minute.
- Numbers and booleans may be text as well, so that they can come from the environment. A number with a point or an exponent
  is refused wherever something is counted, even if it is whole.
- In every text \`$NAME\`, \`\${NAME}\` and \`\${NAME:-otherwise}\` stand for environment variables, \`$$\` for a dollar sign, and a leading
  \`~/\` for the home directory. A variable that is not set and has no default is an error.
- \`null\` is the same as leaving the key out. **0 = default** marks keys where 0 stands for the default instead of for itself.
- An unknown key is an error; in a few places, where NativeLink has always ignored it, a warning.
- What is **not available yet** is known but refused, unless it says what is the case anyway. What has **no effect** is
  accepted with a warning, by \`validate\` and at start.
- Keys, kinds and forms are those of NativeLink 1.6 and a few more. Where a default differs from NativeLink's, its row says so.

## Names that stand for every other name

- \`instance_name: '*'\` in a service serves every instance name that has no entry of its own in that service; exact names win. What
  REAPI does not allow in an instance name (an empty segment, \`blobs\`, \`uploads\` and the like) is refused all the same. Without such
  an entry a call with another name is refused with INVALID_ARGUMENT, which lists the names there are.
- \`'*'\` in \`supported_platform_properties\` says how every property is matched that is not listed. Without it an action that asks for
  such a property is refused with INVALID_ARGUMENT, which lists the properties there are.
- \`deploy/recipes/machine/remexec.json5\` has both, so that no client is refused for a name.

## What comes without being written

- Capabilities for every instance that any service of a server names; ByteStream for every instance that has \`cas\`.
- An action cache of 256 MiB in memory for an instance that has \`cas\` or \`execution\` and no \`ac\` on any server (with a warning).
- A listener for the worker API when a worker names a local address on which no server listens; it belongs to the scheduler of the
  execution services. If they use several, name the one in \`worker_api\` of a server.
`

const TYPES = { array: 'list', object: 'object', string: 'text', integer: 'integer', number: 'number', boolean: 'bool' }
const VALUES = {
  size: 'size',
  duration: 'duration, s',
  duration_ms: 'duration, ms',
  signed_duration: 'duration, s, or negative',
  count: 'integer',
  parallelism: 'integer or `cores`',
  number: 'number',
  bool: 'bool',
}

const anchor = (title) =>
  title
    .toLowerCase()
    .replaceAll(/[^\w -]/g, '')
    .replaceAll(' ', '-')
const link = (title) => `[${title}](#${anchor(title)})`
const code = (text) => `\`${text}\``
const cell = (text) => text.replaceAll('|', '\\|').replaceAll('\n', ' ')

const sharedTitles = {
  'store.json': 'Stores',
  'scheduler.json': 'Schedulers',
  'worker.json': 'Workers',
  'server.json': 'Servers',
  'instance.json': 'Instances',
}

const valueText = (at) => {
  const { file, schema } = follow(at)
  const whole = schema.$id && sharedTitles[file]
  if (whole) return link(whole)
  if (schema.$id && file.startsWith('shared/')) return link(schema.title)
  if (schema.$id && file === 'global.json') return link('Global')
  if (schema.$id && file === 'services.json') return link('Services')
  if (schema.$id && file === 'security.json') return link('Security')
  if (schema.$id) return 'object, below'
  const words = (schema['x-words'] ?? schema.enum)?.map(code).join(', ')
  if (words) return schema.properties ? `${words} or object` : words
  if (schema['x-value']) return VALUES[schema['x-value']]
  if (schema['x-names']) return `name of a ${schema['x-names'].slice(0, -1)}`
  if (schema['x-key'])
    return `list or object of ${valueText({ file, schema: schema.items })}`.replace('object, below', 'entries, below')
  if (schema.type === 'array') return `list of ${valueText({ file, schema: schema.items })}`
  if (schema.additionalProperties)
    return `object by name of ${valueText({ file, schema: schema.additionalProperties })}`
  return TYPES[schema.type] ?? 'any'
}

const bytesText = (bytes) => {
  const power = bytes > 0 ? [4, 3, 2, 1].find((one) => bytes % 1024 ** one === 0) : undefined
  return power === undefined ? String(bytes) : `${bytes / 1024 ** power} ${'KMGT'[power - 1]}iB`
}

const defaultText = (schema, isRequired) => {
  if (isRequired) return '**required**'
  if (schema.default === undefined) return ''
  const isBytes = schema['x-value'] === 'size' && typeof schema.default === 'number'
  const text = isBytes
    ? bytesText(schema.default)
    : code(typeof schema.default === 'string' ? `'${schema.default}'` : JSON.stringify(schema.default))
  return schema['x-zero-is-default'] ? `${text}, 0 = default` : text
}

const noteText = (schema) => {
  if (schema['x-available'] === false) return ' **Not available yet.**'
  const ignored = schema['x-ignored']
  if (ignored && !schema.deprecated && !schema['x-always-so'])
    return typeof ignored === 'string' ? ` **No effect:** ${ignored}.` : ' **No effect yet.**'
  return schema['x-nativelink-default'] ? ` NativeLink's default is ${schema['x-nativelink-default']}.` : ''
}

/** Rows for the keys of an object; objects written in place are told with dotted keys. */
const rows = ({ file, schema }, prefix = '') =>
  Object.entries(schema.properties).flatMap(([key, property]) => {
    const at = follow({ file, schema: property })
    if (at.schema['x-ignored'] && at.schema.deprecated) return []
    if (at.schema['x-alias-of']) return []
    const name = `${prefix}${key}`
    const isRequired = schema.required?.includes(key)
    const row = [
      code(name),
      valueText({ file, schema: property }),
      defaultText(at.schema, isRequired),
      `${at.schema.description ?? ''}${noteText(at.schema)}`,
    ]
    const isInPlace = at.schema.properties && !at.schema.$id && !at.schema['x-key']
    return [
      `| ${row.map(cell).join(' | ')} |`,
      ...(isInPlace ? rows({ file: at.file, schema: at.schema }, `${name}.`) : nestedRows(at, name)),
    ]
  })

/** Rows for the objects a list or map holds, when they are written in place. */
const nestedRows = ({ file, schema }, name) => {
  const holds = schema.type === 'array' ? schema.items : schema.additionalProperties
  if (typeof holds !== 'object' || schema['x-key']) return []
  const at = follow({ file, schema: holds })
  if (!at.schema.properties || at.schema.$id) return []
  return rows(at, schema.type === 'array' ? `${name}[].` : `${name}.NAME.`)
}

const olderSpellings = ({ file, schema }) =>
  Object.entries(schema.properties)
    .map(([key, property]) => [key, follow({ file, schema: property }).schema])
    .filter(([, property]) => property['x-alias-of'] || (property['x-ignored'] && property.deprecated))
    .map(([key, property]) =>
      property['x-alias-of']
        ? `\`${key}\` is ${property['x-alias-is-fine'] ? 'another' : 'an older'} spelling of \`${property['x-alias-of']}\``
        : `\`${key}\` is accepted and has no effect`,
    )

const table = (at) => {
  const body = rows(at)
  const older = olderSpellings(at)
  const lines = body.length > 0 ? ['| Key | Value | Default | Meaning |', '|---|---|---|---|', ...body] : ['No keys.']
  if (older.length > 0) lines.push('', `${older.join('; ')}.`)
  return `${lines.join('\n')}\n`
}

const section = (level, title, at) =>
  `${'#'.repeat(level)} ${title}\n\n${at.schema.description}${noteText(at.schema)}\n\n${table(at)}${example(at.file)}`

const kindSections = (entry, what) =>
  kindsOf(entry).map(([kind, ref]) => section(3, what ? `${kind} ${what}` : kind, load(ref)))

/** The example of a part of the configuration, with the advice at its head, if there is one. */
const example = (name) => {
  const file = new URL(`../schema/examples/${name}5`, import.meta.url)
  return existsSync(file) ? `\n\`\`\`json5\n${readFileSync(file, 'utf8')}\`\`\`\n` : ''
}

export const configPage = () => {
  const services = Object.entries(load('services.json').schema.properties)
    .map(([key, property]) => [key, property.items?.$ref ?? property.$ref])
    .filter(([key, ref]) => ref && key !== 'health_status')
  return [
    intro,
    section(2, 'The file', load('config.json')),
    section(2, 'Global', load('global.json')),
    `## Stores\n\n${load('store.json').schema.description} A nested store is written the same way, without a name.\n`,
    ...kindSections('store.json', 'store'),
    `## Schedulers\n\n${load('scheduler.json').schema.description}\n`,
    ...kindSections('scheduler.json', 'scheduler'),
    `## Workers\n\n${load('worker.json').schema.description}\n`,
    section(3, 'local worker', load('worker/local.json')),
    `### worker\n\n${load('worker/worker.json').schema.description} \`scheduler_endpoint\` is required and takes the place of \`worker_api_endpoint\`; all other keys are those of \`local\`.\n`,
    section(2, 'Servers', load('server.json')),
    section(3, 'Listener', load('listener.json')),
    section(2, 'Instances', load('instance.json')),
    section(2, 'Security', load('security.json')),
    section(2, 'Services', load('services.json')),
    ...services.map(([key, ref]) => section(3, `${key} service`, load(ref))),
    '## Shared objects\n',
    ...['eviction_policy', 'upload_queue', 'upload_action_result', 'retry', 'grpc_endpoint', 'client_tls'].map(
      (name) => {
        const at = load(`shared/${name}.json`)
        return section(3, at.schema.title, at)
      },
    ),
  ].join('\n')
}
