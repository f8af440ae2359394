// protos/**/*.proto -> protos/remexec.protoset: a google.protobuf.FileDescriptorSet with the files' own names and
// imports, which server reflection serves and `grpcurl -protoset` reads. protobufjs' own toDescriptor loses imports and
// misnames map entries, and strict clients refuse such files.
import { readdirSync, readFileSync } from 'node:fs'
import { fileURLToPath } from 'node:url'
import protobuf from 'protobufjs'
import descriptor from 'protobufjs/ext/descriptor.js'
import { jsonName } from './json-name.mjs'

const protosDirectory = fileURLToPath(new URL('../protos/', import.meta.url))

export const generate = async () => {
  const paths = readdirSync(protosDirectory, { recursive: true })
    .filter((path) => path.endsWith('.proto'))
    .sort()
  const root = new protobuf.Root()
  root.resolvePath = (_, target) => (target in protobuf.common ? target : `${protosDirectory}${target}`)
  root.loadSync(paths, { keepCase: true })
  root.resolveAll()
  const files = filesOf(root)
  const ordered = [...wellKnownFiles(files), ...paths].map((path) => fileDescriptor(path, files.get(path)))
  const set = descriptor.FileDescriptorSet.encode(descriptor.FileDescriptorSet.fromObject({ file: ordered })).finish()
  return new Map([['protos/remexec.protoset', Buffer.from(set)]])
}

/** Path of a file -> its package and top-level parts. */
const filesOf = (root) => {
  const files = new Map()
  const walk = (namespace) => {
    for (const part of namespace.nestedArray) {
      const isPart = part instanceof protobuf.Type || part instanceof protobuf.Enum || part instanceof protobuf.Service
      if (!isPart) walk(part)
      else {
        const path = pathOf(part)
        if (!files.has(path)) files.set(path, { packageName: namespace.fullName.slice(1), parts: [] })
        files.get(path).parts.push(part)
      }
    }
  }
  walk(root)
  return files
}

// The google.protobuf types come with protobufjs and so without a file.
const ownFile = new Set(['Any', 'Duration', 'Empty', 'Timestamp'])
const pathOf = (part) => {
  if (part.filename) return part.filename.slice(protosDirectory.length)
  return `google/protobuf/${ownFile.has(part.name) ? part.name.toLowerCase() : 'wrappers'}.proto`
}
const wellKnownFiles = (files) => [...files.keys()].filter((path) => path.startsWith('google/protobuf/')).sort()

const importsOf = (path) => {
  if (path.startsWith('google/protobuf/')) return []
  const text = readFileSync(`${protosDirectory}${path}`, 'utf8')
  return [...text.matchAll(/^import "(.+)";$/gm)].map(([, imported]) => imported)
}

const fileDescriptor = (name, { packageName, parts }) => ({
  name,
  package: packageName,
  dependency: importsOf(name),
  messageType: parts.filter((part) => part instanceof protobuf.Type).map(message),
  enumType: parts.filter((part) => part instanceof protobuf.Enum).map(enumeration),
  service: parts.filter((part) => part instanceof protobuf.Service).map(service),
  syntax: 'proto3',
})

const message = (type) => {
  const oneofs = [...type.oneofsArray].sort((a, b) => Number(a.isProto3Optional) - Number(b.isProto3Optional))
  const maps = type.fieldsArray.filter((one) => one.map)
  return {
    name: type.name,
    field: type.fieldsArray.map((one) => field(one, oneofs)),
    nestedType: [
      ...maps.map(mapEntry),
      ...type.nestedArray.filter((part) => part instanceof protobuf.Type).map(message),
    ],
    enumType: type.nestedArray.filter((part) => part instanceof protobuf.Enum).map(enumeration),
    oneofDecl: oneofs.map(({ name }) => ({ name })),
    reservedRange: (type.reserved ?? []).filter(Array.isArray).map(([start, last]) => ({ start, end: last + 1 })),
  }
}

const field = (one, oneofs) => {
  const optional = one.options?.proto3_optional === true
  return {
    name: one.name,
    number: one.id,
    label: one.repeated || one.map ? 'LABEL_REPEATED' : 'LABEL_OPTIONAL',
    ...(one.map ? { type: 'TYPE_MESSAGE', typeName: `${one.parent.fullName}.${entryName(one)}` } : valueType(one)),
    jsonName: jsonName(one.name),
    ...(one.partOf ? { oneofIndex: oneofs.indexOf(one.partOf) } : {}),
    ...(optional ? { proto3Optional: true } : {}),
    ...(one.options?.deprecated ? { options: { deprecated: true } } : {}),
  }
}

const valueType = (one) => {
  if (one.resolvedType instanceof protobuf.Type) return { type: 'TYPE_MESSAGE', typeName: one.resolvedType.fullName }
  if (one.resolvedType instanceof protobuf.Enum) return { type: 'TYPE_ENUM', typeName: one.resolvedType.fullName }
  return { type: `TYPE_${one.type.toUpperCase()}` }
}

const entryName = (one) => {
  const name = jsonName(one.name)
  return `${name[0].toUpperCase()}${name.slice(1)}Entry`
}

const mapEntry = (one) => ({
  name: entryName(one),
  field: [
    { name: 'key', number: 1, label: 'LABEL_OPTIONAL', type: `TYPE_${one.keyType.toUpperCase()}`, jsonName: 'key' },
    { name: 'value', number: 2, label: 'LABEL_OPTIONAL', ...valueType(one), jsonName: 'value' },
  ],
  options: { mapEntry: true },
})

const enumeration = (part) => ({
  name: part.name,
  value: Object.entries(part.values).map(([name, number]) => ({ name, number })),
})

const service = (part) => ({
  name: part.name,
  method: part.methodsArray.map((method) => ({
    name: method.name,
    inputType: method.resolvedRequestType.fullName,
    outputType: method.resolvedResponseType.fullName,
    ...(method.requestStream ? { clientStreaming: true } : {}),
    ...(method.responseStream ? { serverStreaming: true } : {}),
  })),
})
