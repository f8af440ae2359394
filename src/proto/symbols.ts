import descriptor from 'protobufjs/ext/descriptor.js'

type File = descriptor.IFileDescriptorProto
type Message = descriptor.IDescriptorProto
type Enum = descriptor.IEnumDescriptorProto

/** Encoded files of a protocol, found by their names and by the names in them. */
export interface Symbols {
  /** The file of this name, then all that it imports. Undefined if there is none. */
  fileOf(name: string): readonly Uint8Array[] | undefined
  /** The same for the file that declares a message, field, enum, value, service or method, by its full name. */
  declaring(symbol: string): readonly Uint8Array[] | undefined
}

/** Indexes encoded google.protobuf.FileDescriptorProto without extensions, which proto3 has for options only. */
export const indexSymbols = (encoded: readonly Uint8Array[]): Symbols => {
  const files = new Map<string, { readonly bytes: Uint8Array; readonly imports: readonly string[] }>()
  const symbols = new Map<string, string>()
  for (const bytes of encoded) {
    const file = descriptor.FileDescriptorProto.decode(bytes) as File
    const name = file.name ?? ''
    files.set(name, { bytes, imports: file.dependency ?? [] })
    for (const symbol of declaredIn(file)) symbols.set(symbol, name)
  }
  const fileOf = (name: string): readonly Uint8Array[] | undefined => {
    if (!files.has(name)) return undefined
    // Grows while it is read.
    const names = new Set([name])
    for (const one of names) for (const imported of files.get(one)?.imports ?? []) names.add(imported)
    return [...names].flatMap((one) => files.get(one)?.bytes ?? [])
  }
  const declaring = (symbol: string): readonly Uint8Array[] | undefined => {
    const name = symbols.get(symbol)
    return name === undefined ? undefined : fileOf(name)
  }
  return { fileOf, declaring }
}

interface Named {
  readonly name?: string | null | undefined
}

const below = (scope: string, { name }: Named): string => (scope === '' ? `${name}` : `${scope}.${name}`)

function* declaredIn(file: File): Generator<string> {
  const scope = file.package ?? ''
  for (const message of file.messageType ?? []) yield* ofMessage(scope, message)
  for (const one of file.enumType ?? []) yield* ofEnum(scope, one)
  for (const service of file.service ?? []) {
    const name = below(scope, service)
    yield name
    for (const method of service.method ?? []) yield below(name, method)
  }
}

function* ofMessage(scope: string, message: Message): Generator<string> {
  const name = below(scope, message)
  yield name
  for (const part of [...(message.field ?? []), ...(message.oneofDecl ?? [])]) yield below(name, part)
  for (const one of message.enumType ?? []) yield* ofEnum(name, one)
  for (const nested of message.nestedType ?? []) yield* ofMessage(name, nested)
}

function* ofEnum(scope: string, { name, value }: Enum): Generator<string> {
  const own = below(scope, { name })
  yield own
  for (const one of value ?? []) yield below(own, one)
}
