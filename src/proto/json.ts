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

/** Fields with unknown names are ignored. INVALID_ARGUMENT names the field that is wrong. */
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
  if (WRAPPER.test(type.fullName)) return { value: json }
  if (typeof json !== 'object' || json === null || Array.isArray(json)) throw wrong(at, json, 'an object')
  const given = json as Message
  const out: Message = {}
  for (const field of type.fieldsArray) {
    const snake = field.name.replace(/[A-Z]/g, (letter) => `_${letter.toLowerCase()}`)
    const value = given[field.name] ?? given[snake]
    if (value == null) continue
    const path = `${at}${at === '' ? '' : '.'}${field.name}`
    if (!field.repeated) out[field.name] = valueFromJson(field, value, path)
    else if (Array.isArray(value)) {
      out[field.name] = value.map((item, index) => valueFromJson(field, item, `${path}[${index}]`))
    } else throw wrong(path, value, 'a list')
  }
  return out
}

const valueFromJson = (field: protobuf.Field, value: unknown, at: string): unknown => {
  const { resolvedType, type } = field
  if (resolvedType instanceof protobuf.Type) return messageFromJson(resolvedType, value, at)
  if (resolvedType instanceof protobuf.Enum) {
    const number = typeof value === 'string' ? resolvedType.values[value] : value
    if (typeof number !== 'number') throw wrong(at, value, `one of ${Object.keys(resolvedType.values).join(', ')}`)
    return number
  }
  if (type === 'bytes' || type === 'string') {
    if (typeof value !== 'string') throw wrong(at, value, 'text')
    return type === 'bytes' ? Buffer.from(value, 'base64') : value
  }
  if (type === 'bool') {
    if (typeof value !== 'boolean') throw wrong(at, value, 'true or false')
    return value
  }
  const number = typeof value === 'string' && value !== '' ? Number(value) : value
  if (typeof number !== 'number' || Number.isNaN(number)) throw wrong(at, value, 'a number')
  return number
}

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

const SPECIAL: ReadonlyMap<string, Special> = new Map([
  [
    '.google.protobuf.Timestamp',
    {
      write: (message) => timeText(message),
      read: (json, at) => {
        const text = typeof json === 'string' ? json : ''
        const ms = Date.parse(text.replace(/\.\d+/, ''))
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
        const { '@type': typeUrl, value } = (json ?? {}) as Message
        if (typeof typeUrl !== 'string' || typeof value !== 'string')
          throw wrong(at, json, 'an object with @type and value')
        return { typeUrl, value: Buffer.from(value, 'base64') }
      },
    },
  ],
] as [string, Special][])
