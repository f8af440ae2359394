import { codecByName } from '../../proto/codec.js'
import type { Any } from '../../wire/methods.js'

/** One field of a response: names from the message down, `[]` for the entries of a list, `@` for what an Any holds. */
export type FieldPath = string

/** What is done to a field. */
export type Change = 'dropped' | 'doubled' | 'cut' | 'swapped' | 'off by one'

export const CHANGES: readonly Change[] = ['dropped', 'doubled', 'cut', 'swapped', 'off by one']

/** Every field that is set in this message, those of messages packed into an Any among them. */
export const fieldsIn = (message: Any, prefix = ''): FieldPath[] =>
  Object.entries(message).flatMap(([name, value]) => {
    const path = prefix === '' ? name : `${prefix}.${name}`
    if (isUnset(value)) return []
    if (Array.isArray(value))
      return [path, ...value.flatMap((each) => (isMessage(each) ? inside(each, `${path}[]`) : []))]
    return isMessage(value) ? [path, ...inside(value, path)] : [path]
  })

const inside = (value: Any, path: FieldPath): FieldPath[] => {
  const packed = unpacked(value)
  return packed === undefined ? fieldsIn(value, path) : fieldsIn(packed.message, `${path}.@`)
}

const isUnset = (value: unknown): boolean =>
  value === null ||
  value === undefined ||
  value === '' ||
  value === 0 ||
  value === false ||
  (Array.isArray(value) && value.length === 0) ||
  (value instanceof Uint8Array && value.length === 0)

const isMessage = (value: unknown): boolean =>
  typeof value === 'object' && value !== null && !(value instanceof Uint8Array) && !Array.isArray(value)

const unpacked = ({ typeUrl, value }: Any) => {
  if (typeof typeUrl !== 'string' || !(value instanceof Uint8Array)) return undefined
  try {
    const codec = codecByName(typeUrl.slice(typeUrl.lastIndexOf('/') + 1))
    return { codec, message: codec.decode(value) as Any }
  } catch {
    // A type that nobody here knows is bytes.
    return undefined
  }
}

/** Changes the field in place, wherever in the message it is set. */
export const change = (message: Any, path: FieldPath, how: Change): void => {
  const [first = '', ...rest] = path.split('.')
  const name = first.replace('[]', '')
  if (rest.length === 0) {
    if (!isUnset(message[name])) message[name] = changed(message[name], how)
    return
  }
  const below = first.endsWith('[]') ? (message[name] ?? []) : [message[name]]
  for (const each of below) if (each) changeInside(each, rest, how)
}

const changeInside = (value: Any, rest: readonly string[], how: Change): void => {
  if (rest[0] !== '@') {
    change(value, rest.join('.'), how)
    return
  }
  const packed = unpacked(value)
  if (packed === undefined) return
  change(packed.message, rest.slice(1).join('.'), how)
  value.value = packed.codec.encode(packed.message)
}

const changed = (value: Any, how: Change): Any => {
  if (typeof value === 'boolean') return !value
  if (typeof value === 'number') return changedNumber(value, how)
  if (typeof value === 'string') return changedText(value, how)
  if (value instanceof Uint8Array) return changedBytes(Buffer.from(value), how)
  if (Array.isArray(value)) return changedList(value, how)
  // A message is there or not; what is in it has paths of its own.
  return null
}

const changedNumber = (value: number, how: Change): number =>
  ({ dropped: 0, doubled: value * 2, cut: Math.trunc(value / 2), swapped: -value, 'off by one': value + 1 })[how]

const changedText = (value: string, how: Change): string => {
  const last = value.charCodeAt(value.length - 1)
  const next = `${value.slice(0, -1)}${String.fromCharCode(last === 57 ? 48 : last === 102 ? 97 : last + 1)}`
  const half = value.slice(0, value.length >> 1)
  const reversed = [...value].reverse().join('')
  return { dropped: '', doubled: value + value, cut: half, swapped: reversed, 'off by one': next }[how]
}

const changedBytes = (value: Buffer, how: Change): Buffer => {
  const next = Buffer.from(value)
  next[next.length - 1] = ((next.at(-1) ?? 0) + 1) & 0xff
  return {
    dropped: Buffer.alloc(0),
    doubled: Buffer.concat([value, value]),
    cut: value.subarray(0, value.length >> 1),
    swapped: Buffer.from(value).reverse(),
    'off by one': next,
  }[how]
}

const changedList = (value: readonly Any[], how: Change): Any[] =>
  ({
    dropped: [],
    doubled: [...value, ...value],
    cut: value.slice(0, value.length >> 1),
    swapped: [...value].reverse(),
    'off by one': value.slice(1),
  })[how]
