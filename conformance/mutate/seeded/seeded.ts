import { createHash } from 'node:crypto'
import type protobuf from 'protobufjs/light.js'
import type { Codec } from '../../proto/codec.js'
import { serviceDefinition } from '../../proto/service-definition.js'
import { actionIdOf, REQUEST_METADATA } from '../../wire/identity.js'
import type { Any, Method } from '../../wire/methods.js'
import type { Mutation } from '../mutation.js'
import { CHANGES, type Change, change, changeOf, type FieldPath, typeOf } from './fields.js'
import { type Rule, sameBy } from './meaning.js'

/** Fields by the method, `package.Service/Method`, whose responses had them. */
export type Catalogue = ReadonlyMap<string, ReadonlyMap<FieldPath, protobuf.Field>>

/** A generated fault: one field of the responses of a method, changed in every response or in every second one. */
export interface SeededFault {
  readonly seed: number
  readonly method: string
  readonly path: FieldPath
  readonly change: Change
  readonly isAlternate: boolean
}

/**
 * The same fault for the same seed and catalogue. A field more or less in the catalogue changes few draws: each candidate is
 * ranked by itself, and the first of the ranking is drawn.
 */
export const faultOf = (seed: number, catalogue: Catalogue): SeededFault => {
  const method = drawn(seed, [...catalogue.keys()])
  const fields = catalogue.get(method) ?? new Map<FieldPath, protobuf.Field>()
  const path = drawn(seed, [...fields.keys()])
  return {
    seed,
    method,
    path,
    change: changeOf(fields.get(path) as protobuf.Field, drawn(seed, CHANGES)),
    isAlternate: drawn(seed, ['every', 'every ', 'every  ', 'every second']) === 'every second',
  }
}

const drawn = <T extends string>(seed: number, candidates: readonly T[]): T => {
  const rank = (candidate: T): string => createHash('sha256').update(`${seed} ${candidate}`).digest('hex')
  return candidates.reduce((best, each) => (rank(each) > rank(best) ? each : best))
}

/** What two seeds must share to be one fault. */
export const keyOf = ({ method, path, change, isAlternate }: SeededFault): string =>
  `${method} ${path} ${change}${isAlternate ? ' in every second response' : ''}`

/** What came of a fault in the answers that passed by. */
export class Effect {
  /** An answer said something else than before. */
  changedMeaning = false
  /** The rules by which changed bytes said the same. */
  readonly rules = new Set<Rule>()
}

export const mutationOf = (fault: SeededFault, effect: Effect): Mutation => ({
  name: keyOf(fault),
  breaks: `${fault.method}: ${fault.path} ${fault.change}.`,
  caughtBy: [],
  tamper: () => {
    const [service = '', name = ''] = fault.method.split('/')
    const codec = responseCodecOf(fault.method)
    const isChanged = fault.isAlternate ? everySecond(keyOf(fault)) : () => true
    const method: Method<Any, Any> = { service, name }
    return {
      method,
      response: (message, { headers }) => {
        if (!isChanged(actionIdOf(headers[REQUEST_METADATA]) ?? '')) return undefined
        const bytes = codec.encode(message)
        const before = codec.decode(bytes)
        change(typeOf(codec.typeName), message, fault.path, fault.change)
        const after = codec.encode(message)
        if (after.equals(bytes)) return undefined
        const same = sameBy(codec.typeName, before, codec.decode(after), !fault.isAlternate)
        if (same === undefined) effect.changedMeaning = true
        else effect.rules.add(same)
        return undefined
      },
    }
  },
})

/**
 * Every second of what a row is answered: whether the first, the fault and the row decide by lot, so that it is the same in every
 * run whichever rows run beside.
 */
const everySecond = (key: string): ((row: string) => boolean) => {
  const seen = new Map<string, number>()
  return (row) => {
    const count = seen.get(row) ?? createHash('sha256').update(`${key} ${row}`).digest()[0] ?? 0
    seen.set(row, count + 1)
    return count % 2 === 1
  }
}

/** Throws for a method that no service below protos/ has. */
export const responseCodecOf = (method: string): Codec<object, unknown> => {
  const [service = '', name] = method.split('/')
  const definition = serviceDefinition(service).methods.find((each) => each.name === name)
  if (definition === undefined) throw new Error(`${method} is no method of ${service}`)
  return definition.response
}
