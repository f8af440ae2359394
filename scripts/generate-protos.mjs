// protos/**/*.proto -> protos/bundle.json (protobufjs' JSON form, loaded at run time) and one file of TypeScript
// interfaces a package. The interfaces are written from the bundle itself, because proto-loader-gen-types describes
// proto-loader's conversions (64-bit integers also as string or Long) and not what protobufjs alone takes and gives.
import { readdirSync } from 'node:fs'
import { fileURLToPath } from 'node:url'
import protobuf from 'protobufjs'
import pbjs from 'protobufjs-cli/pbjs.js'
import { jsonName } from './json-name.mjs'

const protosDirectory = fileURLToPath(new URL('../protos', import.meta.url))

export const generate = async () => {
  const files = readdirSync(protosDirectory, { recursive: true })
    .filter((path) => path.endsWith('.proto'))
    .sort()
  const bundle = withJsonNames(JSON.parse(await toJson(files)))
  const root = protobuf.Root.fromJSON(bundle)
  root.resolveAll()
  return new Map([['protos/bundle.json', `${JSON.stringify(bundle, null, 1)}\n`], ...interfaceFiles(root)])
}

const toJson = (files) =>
  new Promise((resolve, reject) => {
    pbjs.main(['--target', 'json', '--path', protosDirectory, ...files], (error, text) => {
      if (error) reject(error)
      else resolve(text)
    })
  })

// protobufjs leaves the types it ships (Any) with the names of their protos.
const withJsonNames = (node) => {
  for (const child of Object.values(node.nested ?? {})) withJsonNames(child)
  if (node.fields === undefined) return node
  const renamed = new Map()
  const fields = Object.entries(node.fields).map(([name, field]) => {
    const protoName = field.protoName ?? name
    renamed.set(name, jsonName(protoName))
    return [jsonName(protoName), protoName === jsonName(protoName) ? field : { ...field, protoName }]
  })
  node.fields = Object.fromEntries(fields)
  for (const group of Object.values(node.oneofs ?? {})) group.oneof = group.oneof.map((name) => renamed.get(name))
  return node
}

const interfaceFiles = (root) => {
  const packages = packagesOf(root)
  const files = [...packages].map(([name, parts]) => [`src/proto/generated/${name}.ts`, packageText(name, parts)])
  return [...files, ['src/proto/generated/messages.ts', messageMapText(packages)]]
}

/** Package name -> its messages and enums in declaration order, nested ones behind their parent. */
const packagesOf = (root) => {
  const packages = new Map()
  const walk = (namespace) => {
    for (const part of namespace.nestedArray) {
      if (part instanceof protobuf.Type || part instanceof protobuf.Enum) {
        const packageName = packageOf(part)
        if (!packages.has(packageName)) packages.set(packageName, [])
        packages.get(packageName).push(part)
      }
      if (part instanceof protobuf.Namespace) walk(part)
    }
  }
  walk(root)
  return new Map([...packages].sort(([a], [b]) => (a < b ? -1 : 1)))
}

const packageOf = (part) => {
  let parent = part.parent
  while (parent instanceof protobuf.Type) parent = parent.parent
  return parent.fullName.slice(1)
}

/** REAPI wraps each enum `Value` in an empty message: the wrapper's name serves for the enum, the message is left out. */
const isEnumWrapper = (part) =>
  part instanceof protobuf.Type && part.fieldsArray.length === 0 && part.nestedArray.some(isWrappedEnum)
const isWrappedEnum = (part) => part instanceof protobuf.Enum && part.name === 'Value'

const localName = (part) => {
  const path = part.fullName.slice(packageOf(part).length + 2).split('.')
  return (isWrappedEnum(part) ? path.slice(0, -1) : path).join('')
}

const alias = (packageName) => packageName.replace(/\W/g, '_')
const header = '// Written by `npm run generate` from protos/. Do not edit.\n'

const packageText = (packageName, parts) => {
  const shown = parts.filter((part) => !isEnumWrapper(part))
  const names = shown.map(localName)
  if (new Set(names).size !== names.length) throw new Error(`two types of ${packageName} get the same name: ${names}`)
  const imports = new Set()
  const body = shown.map((part) =>
    part instanceof protobuf.Enum ? enumText(part) : messageText(part, (type) => reference(type, packageName, imports)),
  )
  const lines = [...imports].sort().map((name) => `import type * as ${alias(name)} from './${name}.js'\n`)
  return `${header}${lines.join('')}\n${body.join('\n')}`
}

const reference = (type, packageName, imports) => {
  const of = packageOf(type)
  if (of === packageName) return localName(type)
  imports.add(of)
  return `${alias(of)}.${localName(type)}`
}

const enumText = (part) => {
  const values = Object.entries(part.values).map(([name, number]) => `  ${name}: ${number},\n`)
  return `export const ${localName(part)} = {\n${values.join('')}} as const\n`
}

const messageText = (type, refer) => {
  const name = localName(type)
  const oneofs = type.oneofsArray.filter((group) => !group.isProto3Optional)
  const presence = oneofs.map((group) => {
    const members = group.oneof.map((field) => `'${field}'`).join(' | ')
    return `  /** Which one is set. */\n  readonly ${group.name}: ${members} | undefined\n`
  })
  const decoded = type.fieldsArray.map((field) => `${doc(field)}  ${field.name}: ${decodedType(field, refer)}\n`)
  const input = type.fieldsArray.map((field) => `${doc(field)}  ${field.name}?: ${inputType(field, refer)}\n`)
  return `${block(name, [...decoded, ...presence])}\n${block(`${name}Input`, input)}`
}

const block = (name, lines) => `export interface ${name} {\n${lines.join('')}}\n`
const doc = (field) => (field.options?.deprecated ? '  /** @deprecated */\n' : '')
const isOptional = (field) => field.options?.proto3_optional === true
const isMessage = (field) => field.resolvedType instanceof protobuf.Type

const decodedType = (field, refer) => {
  const single = isMessage(field) ? refer(field.resolvedType) : scalarType(field, 'Buffer')
  if (field.map) return `Record<string, ${single}>`
  if (field.repeated) return `${single}[]`
  return isMessage(field) || isOptional(field) ? `${single} | null` : single
}

const inputType = (field, refer) => {
  const single = isMessage(field) ? `${refer(field.resolvedType)}Input` : scalarType(field, 'Uint8Array')
  if (field.map) return `Readonly<Record<string, ${single}>> | undefined`
  if (field.repeated) return `readonly ${single}[] | undefined`
  return isMessage(field) || isOptional(field) ? `${single} | null | undefined` : `${single} | undefined`
}

const scalarType = (field, bytes) => {
  if (field.type === 'bytes') return bytes
  if (field.type === 'string') return 'string'
  return field.type === 'bool' ? 'boolean' : 'number'
}

const messageMapText = (packages) => {
  const lines = []
  for (const [packageName, parts] of packages) {
    for (const part of parts.filter((one) => one instanceof protobuf.Type && !isEnumWrapper(one))) {
      const type = `${alias(packageName)}.${localName(part)}`
      lines.push(`  '${part.fullName.slice(1)}': [${type}Input, ${type}]\n`)
    }
  }
  const imports = [...packages.keys()].map((name) => `import type * as ${alias(name)} from './${name}.js'\n`)
  const text = '/** Full message name -> what may be encoded, what decoding gives. */\n'
  return `${header}${imports.join('')}\n${text}${block('Messages', lines)}`
}
