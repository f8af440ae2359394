import protobuf from 'protobufjs/light.js'
import { codecByName } from '../../proto/codec.js'
import { root } from '../../proto/root.js'
import type { Any } from '../../wire/methods.js'

/** One field of a response: names from the message down, `[]` for the entries of a list or map, `@` for what an Any holds. */
export type FieldPath = string

/** What is done to a field. A message is there or not and a flag is up or down, so that of these only one thing can be done. */
export type Change = 'dropped' | 'doubled' | 'cut' | 'swapped' | 'off by one' | 'turned over'

export const CHANGES: readonly Change[] = ['dropped', 'doubled', 'cut', 'swapped', 'off by one']

export const typeOf = (typeName: string): protobuf.Type => root.lookupType(typeName)

/** What an Any holds, when its type is known here; other types are bytes. */
export const unpacked = ({
  typeUrl,
  value,
}: Any): { readonly type: protobuf.Type; readonly message: Any } | undefined => {
  const type = root.lookup(String(typeUrl).slice(String(typeUrl).lastIndexOf('/') + 1), [protobuf.Type])
  if (!(type instanceof protobuf.Type)) return undefined
  try {
    return { type, message: codecByName(type.fullName.slice(1)).decode(value) }
  } catch {
    // Bytes that are no such message: there are no fields in them.
    return undefined
  }
}

/** Every field that stands in this message, those of messages packed into an Any among them; flags and numbers also when they are 0. */
export const fieldsIn = (type: protobuf.Type, message: Any, prefix = ''): [FieldPath, protobuf.Field][] =>
  type.fieldsArray.flatMap((field): [FieldPath, protobuf.Field][] => {
    const value = message[field.name]
    const path = prefix === '' ? field.name : `${prefix}.${field.name}`
    if (isAbsent(field, value)) return []
    const within = entriesOf(field, value).flatMap((each) => inside(field, each, isMany(field) ? `${path}[]` : path))
    return [[path, field], ...within]
  })

const inside = (field: protobuf.Field, value: Any, path: FieldPath): [FieldPath, protobuf.Field][] => {
  if (!(field.resolvedType instanceof protobuf.Type)) return []
  const packed = isAny(field.resolvedType) ? unpacked(value) : undefined
  if (packed === undefined) return fieldsIn(field.resolvedType, value, path)
  return fieldsIn(packed.type, packed.message, `${path}.@`)
}

export const isAny = (type: protobuf.Type): boolean => type.fullName === '.google.protobuf.Any'

export const isMany = (field: protobuf.Field): boolean => field.repeated || field.map

/** The values of a list or map, or the one value there is. */
export const entriesOf = (field: protobuf.Field, value: Any): Any[] => {
  if (field.map) return Object.values(value)
  return field.repeated ? value : [value]
}

const isAbsent = (field: protobuf.Field, value: Any): boolean => {
  if (value === null || value === undefined) return true
  if (field.map) return Object.keys(value).length === 0
  // Of a oneof, one that is not chosen is not there.
  if (field.partOf !== null && field.partOf !== undefined && value === field.typeDefault) return true
  return value.length === 0
}

/** What is done to a field of this kind when `wanted` was drawn. */
export const changeOf = (field: protobuf.Field, wanted: Change): Change => {
  if (isMany(field)) return wanted
  if (field.resolvedType instanceof protobuf.Type) return 'dropped'
  return field.type === 'bool' ? 'turned over' : wanted
}

/** Changes the field in place, wherever in the message it is. */
export const change = (type: protobuf.Type, message: Any, path: FieldPath, how: Change): void => {
  const [first = '', ...rest] = path.split('.')
  const field = type.fields[first.replace('[]', '')]
  if (field === undefined) return
  const value = message[field.name]
  if (isAbsent(field, value)) return
  if (rest.length === 0) message[field.name] = changed(field, value, how)
  else for (const each of entriesOf(field, value)) changeInside(field.resolvedType as protobuf.Type, each, rest, how)
}

const changeInside = (type: protobuf.Type, value: Any, rest: readonly string[], how: Change): void => {
  if (rest[0] !== '@') {
    change(type, value, rest.join('.'), how)
    return
  }
  const packed = unpacked(value)
  if (packed === undefined) return
  change(packed.type, packed.message, rest.slice(1).join('.'), how)
  value.value = codecByName(packed.type.fullName.slice(1)).encode(packed.message)
}

const changed = (field: protobuf.Field, value: Any, how: Change): Any => {
  if (field.map) return Object.fromEntries(changedList(Object.entries(value), how))
  if (field.repeated) return changedList(value, how)
  if (typeof value === 'boolean') return !value
  if (typeof value === 'number') return changedNumber(value, how)
  if (typeof value === 'string') return changedText(value, how)
  return value instanceof Uint8Array ? changedBytes(value, how) : null
}

const changedNumber = (value: number, how: Change): number =>
  ({ dropped: 0, doubled: value * 2, cut: Math.trunc(value / 2), swapped: -value, 'off by one': value + 1 })[
    how as Exclude<Change, 'turned over'>
  ]

const changedText = (value: string, how: Change): string => {
  const last = value.charCodeAt(value.length - 1)
  // The next digit, also in hex: what the text is stays what it is.
  const next = `${value.slice(0, -1)}${String.fromCharCode(last === 57 ? 48 : last === 102 ? 97 : last + 1)}`
  const half = value.slice(0, value.length >> 1)
  const reversed = [...value].reverse().join('')
  return {
    dropped: '',
    doubled: value + value,
    cut: half,
    swapped: reversed,
    'off by one': next,
    'turned over': value,
  }[how]
}

const changedBytes = (value: Uint8Array, how: Change): Buffer => {
  const next = Buffer.from(value)
  next[next.length - 1] = ((next.at(-1) ?? 0) + 1) & 0xff
  return {
    dropped: Buffer.alloc(0),
    doubled: Buffer.concat([value, value]),
    cut: next.subarray(0, value.length >> 1),
    swapped: Buffer.from(value).reverse(),
    'off by one': next,
    'turned over': next,
  }[how]
}

const changedList = <T>(value: readonly T[], how: Change): T[] =>
  ({
    dropped: [],
    doubled: [...value, ...value],
    cut: value.slice(0, value.length >> 1),
    swapped: [...value].reverse(),
    'off by one': value.slice(1),
    'turned over': [...value],
  })[how]
