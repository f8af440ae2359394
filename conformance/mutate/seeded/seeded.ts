import type { Any, Method } from '../../wire/methods.js'
import type { Mutation } from '../mutation.js'
import { definitionOf } from '../proxy/definition-of.js'
import { CHANGES, type Change, change, type FieldPath } from './fields.js'

/** Fields by the method, `package.Service/Method`, whose responses had them set. */
export type Catalogue = ReadonlyMap<string, readonly FieldPath[]>

/** A fault that nobody thought of: a field of the responses of a method, changed in every one, or in every second one. */
export interface SeededFault {
  readonly seed: number
  readonly method: string
  readonly path: FieldPath
  readonly change: Change
  readonly isAlternate: boolean
}

/** The same fault for the same seed and catalogue. */
export const faultOf = (seed: number, catalogue: Catalogue): SeededFault => {
  const random = randomOf(seed)
  const pick = <T>(list: readonly T[]): T => list[Math.floor(random() * list.length)] as T
  const method = pick([...catalogue.keys()])
  return {
    seed,
    method,
    path: pick(catalogue.get(method) ?? []),
    change: pick(CHANGES),
    isAlternate: random() < 0.25,
  }
}

/** What two seeds must share to be one fault. */
export const keyOf = ({ method, path, change, isAlternate }: SeededFault): string =>
  `${method} ${path} ${change}${isAlternate ? ' in every second response' : ''}`

/** `onEffect` is told whenever the bytes of a response are other than they were. */
export const mutationOf = (fault: SeededFault, onEffect: () => void): Mutation => ({
  name: keyOf(fault),
  breaks: `${fault.method}: ${fault.path} ${fault.change}.`,
  caughtBy: [],
  tamper: () => {
    const [service = '', name = ''] = fault.method.split('/')
    const { response: codec } = definitionOf(`/${fault.method}`)
    let seen = 0
    const method: Method<Any, Any> = { service, name }
    return {
      method,
      response: (message) => {
        if (fault.isAlternate && seen++ % 2 === 0) return undefined
        const before = codec.encode(message)
        change(message, fault.path, fault.change)
        if (!codec.encode(message).equals(before)) onEffect()
        return undefined
      },
    }
  },
})

/** mulberry32: small, and the same on every machine. */
const randomOf = (seed: number): (() => number) => {
  let state = seed >>> 0
  return () => {
    state = (state + 0x6d2b79f5) >>> 0
    let mixed = Math.imul(state ^ (state >>> 15), state | 1)
    mixed ^= mixed + Math.imul(mixed ^ (mixed >>> 7), mixed | 61)
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32
  }
}
