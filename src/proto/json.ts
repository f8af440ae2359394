import protobuf from 'protobufjs/light.js'
import { StatusError } from '../base/status-error.js'
import type { TypeName } from './codec.js'
import { root } from './root.js'

type Json = unknown
type Message = Record<string, unknown>

const LONG = new Set(['int64', 'uint64', 'sint64', 'fixed64', 'sfixed64'])
const WRAPPER = /^\.google\.protobuf\.(\w+)Value$/
const NANOS = 1_000_000_000

/** A message in the JSON of proto3: names in camel case, 64-bit integers as text, bytes in base64, unset fields left out. */
export const toJson = (typeName: TypeName, message: object): Json =>
  messageToJson(root.lookupType(typeName), message as Message)

/**
 * INVALID_ARGUMENT names the member that is wrong or that the message does not have. To leave out what is unknown, as decoders of the binary form do, would
 * make an empty message of any other JSON.
 */
export const fromJson = (typeName: TypeName, json: Json): object => messageFromJson(root.lookupType(typeName), json, '')

const messageToJson = (type: protobuf.Type, message: Message): Json => {
  const special = SPECIAL.get(type.fullName)
  if (special !== undefined) return special.write(message)
  if (WRAPPER.test(type.fullName)) return message['value']
  const out: Message = {}
  for (const field of type.fieldsArray) {
    const value = message[field.name]
    const one = (item: unknown): Json => valueToJson(field, item)
    if (field.repeated) {
      if (Array.isArray(value) && value.length > 0) out[field.name] = value.map(one)
    } else if (!isUnset(value)) out[field.name] = one(value)
  }
  return out
}

const isUnset = (value: unknown): boolean =>
  value == null || value === 0 || value === '' || value === false || (Buffer.isBuffer(value) && value.length === 0)

const valueToJson = (field: protobuf.Field, value: unknown): Json => {
  const { resolvedType } = field
  if (resolvedType instanceof protobuf.Type) return messageToJson(resolvedType, value as Message)
  if (resolvedType instanceof protobuf.Enum) return resolvedType.valuesById[value as number] ?? value
  if (field.type === 'bytes') return Buffer.from(value as Uint8Array).toString('base64')
  return LONG.has(field.type) ? String(value) : value
}

const messageFromJson = (type: protobuf.Type, json: Json, at: string): Message => {
  const special = SPECIAL.get(type.fullName)
  if (special !== undefined) return special.read(json, at)
  if (WRAPPER.test(type.fullName)) return { value: valueFromJson(type.fields['value'] as protobuf.Field, json, at) }
  const given = objectIn(json, at)
  const named = fieldsByName(type)
  const out: Message = {}
  for (const [name, value] of Object.entries(given)) {
    const path = `${at}${at === '' ? '' : '.'}${name}`
    const field = named.get(name)
    if (field === undefined) throw unknown(path, type.fullName.slice(1))
    if (Object.hasOwn(out, field.name)) throw new StatusError('INVALID_ARGUMENT', `${path} is given twice`)
    if (value === null) continue
    if (!field.repeated) out[field.name] = valueFromJson(field, value, path)
    else if (Array.isArray(value)) {
      out[field.name] = value.map((item, index) => valueFromJson(field, item, `${path}[${index}]`))
    } else throw wrong(path, value, 'a list')
  }
  return out
}

const objectIn = (json: Json, at: string): Message => {
  if (typeof json !== 'object' || json === null || Array.isArray(json)) throw wrong(at, json, 'an object')
  return json as Message
}

const namesOf = new WeakMap<protobuf.Type, ReadonlyMap<string, protobuf.Field>>()

/** Fields by the names that JSON may have: in camel case, and as in the protocol. */
const fieldsByName = (type: protobuf.Type): ReadonlyMap<string, protobuf.Field> => {
  const known = namesOf.get(type)
  if (known !== undefined) return known
  const snake = (name: string): string => name.replace(/[A-Z]/g, (letter) => `_${letter.toLowerCase()}`)
  const names = new Map(
    type.fieldsArray.flatMap((field) => [[field.name, field] as const, [snake(field.name), field] as const]),
  )
  namesOf.set(type, names)
  return names
}

const valueFromJson = (field: protobuf.Field, value: unknown, at: string): unknown => {
  const { resolvedType, type } = field
  if (resolvedType instanceof protobuf.Type) return messageFromJson(resolvedType, value, at)
  if (resolvedType instanceof protobuf.Enum) {
    const number = typeof value === 'string' ? resolvedType.values[value] : value
    if (!Number.isInteger(number)) throw wrong(at, value, `one of ${Object.keys(resolvedType.values).join(', ')}`)
    return number
  }
  if (type === 'bytes') return bytesIn(value, at)
  if (type === 'string') {
    if (typeof value !== 'string') throw wrong(at, value, 'text')
    return value
  }
  if (type === 'bool') {
    if (typeof value !== 'boolean') throw wrong(at, value, 'true or false')
    return value
  }
  return type === 'double' || type === 'float' ? numberIn(value, at) : integerIn(type, value, at)
}

/** In either alphabet, with or without padding. */
const bytesIn = (value: unknown, at: string): Buffer => {
  if (typeof value !== 'string' || !/^[A-Za-z0-9+/_-]*={0,2}$/.test(value)) throw wrong(at, value, 'bytes in base64')
  return Buffer.from(value, 'base64')
}

const numberIn = (value: unknown, at: string): number => {
  const isText = typeof value === 'string' && /^-?\d+(?:\.\d+)?(?:[eE][+-]?\d+)?$/.test(value)
  const number = isText ? Number(value) : value
  if (typeof number !== 'number' || !Number.isFinite(number)) throw wrong(at, value, 'a number')
  return number
}

const integerIn = (type: string, value: unknown, at: string): number => {
  const { least, most } = rangeOf(type)
  const number = numberIn(value, at)
  if (!Number.isInteger(number) || number < least || number > most)
    throw wrong(at, value, `a whole number from ${least} to ${most}`)
  return number
}

const rangeOf = (type: string): { readonly least: number; readonly most: number } => {
  const isUnsigned = type.startsWith('u') || type.startsWith('fixed')
  const most = LONG.has(type) ? Number.MAX_SAFE_INTEGER : isUnsigned ? 2 ** 32 - 1 : 2 ** 31 - 1
  return { least: isUnsigned ? 0 : LONG.has(type) ? -most : -most - 1, most }
}

const unknown = (path: string, typeName: string): StatusError =>
  new StatusError('INVALID_ARGUMENT', `${path} is not a field of ${typeName}`)

const wrong = (at: string, found: unknown, expected: string): StatusError => {
  const shown = JSON.stringify(found)?.slice(0, 100)
  return new StatusError('INVALID_ARGUMENT', `${at === '' ? 'the JSON' : at} is ${shown}, expected ${expected}`)
}

interface Special {
  write(message: Message): Json
  read(json: Json, at: string): Message
}

const timeText = ({ seconds = 0, nanos = 0 }: { seconds?: number; nanos?: number }): string => {
  const whole = new Date(seconds * 1000).toISOString().slice(0, 19)
  return `${whole}${nanos === 0 ? '' : `.${String(nanos).padStart(9, '0')}`}Z`
}

const TIME = /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(?:\.\d{1,9})?(?:Z|[+-]\d\d:\d\d)$/

const SPECIAL: ReadonlyMap<string, Special> = new Map([
  [
    '.google.protobuf.Timestamp',
    {
      write: (message) => timeText(message),
      read: (json, at) => {
        const text = typeof json === 'string' ? json : ''
        const ms = TIME.test(text) ? Date.parse(text.replace(/\.\d+/, '')) : Number.NaN
        const [, fraction = '0'] = /\.(\d{1,9})/.exec(text) ?? []
        if (Number.isNaN(ms)) throw wrong(at, json, 'a time in RFC 3339')
        return { seconds: Math.floor(ms / 1000), nanos: Number(fraction.padEnd(9, '0')) }
      },
    },
  ],
  [
    '.google.protobuf.Duration',
    {
      write: ({ seconds = 0, nanos = 0 }: { seconds?: number; nanos?: number }) => `${seconds + nanos / NANOS}s`,
      read: (json, at) => {
        const [, text] = /^(-?\d+(?:\.\d+)?)s$/.exec(typeof json === 'string' ? json : '') ?? []
        if (text === undefined) throw wrong(at, json, 'a duration such as 1.5s')
        const seconds = Math.trunc(Number(text))
        return { seconds, nanos: Math.round((Number(text) - seconds) * NANOS) }
      },
    },
  ],
  [
    '.google.protobuf.Any',
    {
      write: ({ typeUrl, value }: { typeUrl?: string; value?: Buffer }) => ({
        '@type': typeUrl,
        value: value?.toString('base64'),
      }),
      read: (json, at) => {
        const { '@type': typeUrl, value, ...others } = objectIn(json, at)
        const [other] = Object.keys(others)
        if (other !== undefined) throw unknown(`${at}.${other}`, 'google.protobuf.Any, which has @type and value here')
        if (typeof typeUrl !== 'string' || typeof value !== 'string')
          throw wrong(at, json, 'an object with @type and value')
        return { typeUrl, value: bytesIn(value, `${at}.value`) }
      },
    },
  ],
] as [string, Special][])
