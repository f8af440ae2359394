import { readFileSync } from 'node:fs'
import protobuf from 'protobufjs/light.js'
import t, { type Test } from 'tap'
import { root } from '../../src/proto/root.js'

// fixtures/reapi/*.tsv list the messages of the protocols. The loaded messages must match them exactly.
const rowsOf = (table: string): string[] =>
  readFileSync(`fixtures/reapi/${table}.tsv`, 'utf8').replace(/\n$/, '').split('\n').slice(1)

const column = (row: string, index: number): string => row.split('\t')[index] ?? ''
const tabled = new Set(rowsOf('messages').map((row) => column(row, 0)))

const everything = (namespace: protobuf.NamespaceBase): protobuf.ReflectionObject[] =>
  namespace.nestedArray.flatMap((part) => [part, ...(part instanceof protobuf.Namespace ? everything(part) : [])])

const packageOf = (part: protobuf.ReflectionObject): string => {
  let parent = part.parent
  while (parent instanceof protobuf.Type) parent = parent.parent
  return parent?.fullName.slice(1) ?? ''
}
const localName = (part: protobuf.ReflectionObject): string => part.fullName.slice(packageOf(part).length + 2)
const ofTables = everything(root).filter((part) => tabled.has(packageOf(part)))
const types = ofTables.filter((part) => part instanceof protobuf.Type)
const flags = (deprecated: unknown): string => (deprecated === true ? 'deprecated' : '')

const fieldRow = (type: protobuf.Type, field: protobuf.Field): string => {
  const name = field.protoName ?? field.name
  const of = field.resolvedType?.fullName.slice(1) ?? field.type
  const oneof = field.partOf !== null && !field.partOf.isProto3Optional ? field.partOf : null
  const optional = field.options?.['proto3_optional'] === true ? 'optional' : 'singular'
  const label = field.map ? 'map' : field.repeated ? 'repeated' : oneof ? 'oneof' : optional
  const shown = field instanceof protobuf.MapField ? `map<${field.keyType},${of}>` : of
  const group = (oneof?.name ?? '').replace(/[A-Z]/g, (letter) => `_${letter.toLowerCase()}`)
  return [
    packageOf(type),
    localName(type),
    name,
    field.id,
    shown,
    label,
    group,
    flags(field.options?.['deprecated']),
  ].join('\t')
}

const messageRows = (type: protobuf.Type): string[] =>
  type.fieldsArray.length === 0
    ? [[packageOf(type), localName(type), '', '', '', '(no fields)', '', ''].join('\t')]
    : type.fieldsArray.map((field) => fieldRow(type, field))

const same = (t: Test, found: string[], table: string): void => {
  const expected = rowsOf(table)
  t.same(
    expected.filter((row) => !found.includes(row)),
    [],
    'nothing of the table is missing',
  )
  t.same(
    found.filter((row) => !expected.includes(row)),
    [],
    'nothing is there beyond the table',
  )
}

t.test('messages: name, number, type, label, oneof and deprecation of every field', async (t) => {
  same(t, types.flatMap(messageRows), 'messages')
})

t.test('enums: name and number of every value', async (t) => {
  const found = ofTables
    .filter((part) => part instanceof protobuf.Enum)
    .flatMap((part) =>
      Object.entries(part.values).map(([name, number]) =>
        [packageOf(part), localName(part), name, number, ''].join('\t'),
      ),
    )
  // The bundled google.protobuf types contain enums that no table lists and no served message uses.
  same(
    t,
    found.filter((row) => !row.startsWith('google.protobuf\t')),
    'enums',
  )
})

t.test('services: request, response, streaming and path of every method', async (t) => {
  const found = ofTables
    .filter((part) => part instanceof protobuf.Service)
    .flatMap((service) =>
      service.methodsArray.map((method) =>
        [
          packageOf(service),
          service.name,
          method.name,
          method.resolvedRequestType?.fullName.slice(1),
          method.resolvedResponseType?.fullName.slice(1),
          method.requestStream ? 1 : 0,
          method.responseStream ? 1 : 0,
          `/${service.fullName.slice(1)}/${method.name}`,
        ].join('\t'),
      ),
    )
  same(t, found, 'services')
})

t.test('reserved numbers', async (t) => {
  const found = types.flatMap((type) =>
    (type.reserved ?? []).map((range) => {
      const [from, to] = range as number[]
      return [packageOf(type), localName(type), 'message', from === to ? from : `${from}-${to}`].join('\t')
    }),
  )
  same(t, found, 'reserved')
})

/** Bazel's events: protos/ has only the part that pages show. */
const IN_PART = 'build_event_stream'

t.test('only the packages of remexec have no table, and those that are there in part', async (t) => {
  const others = everything(root)
    .filter((part) => part instanceof protobuf.Type || part instanceof protobuf.Service)
    .map(packageOf)
    .filter((name) => !tabled.has(name) && !name.startsWith('remexec.') && name !== IN_PART)
  t.same([...new Set(others)], [])
})
