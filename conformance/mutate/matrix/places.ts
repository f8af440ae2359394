import protobuf from 'protobufjs/light.js'
import { root } from '../../proto/root.js'

/** What a place holds, which decides the ways to be wrong. */
export type Kind = 'text' | 'bytes' | 'digest' | 'time' | 'number' | 'flag' | 'message' | 'list'

/** A field of a message on the wire: names from the message down, `[]` for the entries of a list. */
export interface Place {
  readonly path: string
  readonly kind: Kind
  /** How many lists it stands in: 0 for none. */
  readonly depth: number
}

/** Fields that are not walked into, each with the reason. */
export interface LeftOutField {
  readonly path: string
  readonly reason: string
}

const NUMBERS = new Set(['int32', 'int64', 'uint32', 'uint64', 'sint32', 'sint64'])

const TIMES = new Set(['.google.protobuf.Timestamp', '.google.protobuf.Duration'])

/** Every place of a message type, read from its descriptor; `leave` gets the fields that no fault of content can hit. */
export const placesOf = (typeName: string, leave: (field: LeftOutField) => void): Place[] =>
  walk(root.lookupType(typeName), '', 0, leave)

const walk = (type: protobuf.Type, prefix: string, depth: number, leave: (field: LeftOutField) => void): Place[] =>
  type.fieldsArray.flatMap((field): Place[] => {
    const path = `${prefix}${field.name}`
    if (field.map) {
      leave({ path, reason: "a map of the server's own, in no order and under names that no text gives" })
      return []
    }
    if (!field.repeated) return ofOne(field, path, depth, leave)
    if (field.resolvedType instanceof protobuf.Enum) {
      leave({ path, reason: OPTION })
      return []
    }
    return [{ path, kind: 'list', depth }, ...ofOne(field, `${path}[]`, depth + 1, leave)]
  })

const OPTION = 'an option: says how a call works, and carries neither content nor a name'

const ofOne = (field: protobuf.Field, path: string, depth: number, leave: (field: LeftOutField) => void): Place[] => {
  const { resolvedType: type } = field
  if (type instanceof protobuf.Enum) {
    leave({ path, reason: OPTION })
    return []
  }
  if (type instanceof protobuf.Type) {
    if (type.name === 'Digest') return [{ path, kind: 'digest', depth }]
    if (TIMES.has(type.fullName)) return [{ path, kind: 'time', depth }]
    if (type.name === 'Any' && !path.endsWith('[]')) return [{ path, kind: 'message', depth }]
    const own: Place[] = path.endsWith('[]') ? [] : [{ path, kind: 'message', depth }]
    return [...own, ...walk(type, `${path}.`, depth, leave)]
  }
  const kind = scalarKind(field.type)
  if (kind !== undefined) return [{ path, kind, depth }]
  leave({ path, reason: OPTION })
  return []
}

const scalarKind = (type: string): Kind | undefined => {
  if (type === 'string') return 'text'
  if (type === 'bytes') return 'bytes'
  if (type === 'bool') return 'flag'
  return NUMBERS.has(type) ? 'number' : undefined
}
