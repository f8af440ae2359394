// Operations of the disk that a test lets go. Sources that import these functions by name call the new ones, whenever they were loaded.
import fs from 'node:fs'
import { syncBuiltinESMExports } from 'node:module'
import { until } from './until.js'

const waiting: { readonly name: string; begin(): void }[] = []
let isHeld = false

/** In so many a checkpoint would be written. */
const TURNS = 5000

for (const name of ['rename', 'chmod', 'unlink'] as const) {
  const original = fs.promises[name] as (...given: unknown[]) => Promise<void>
  const held = async (...given: unknown[]): Promise<void> => {
    if (isHeld) await new Promise<void>((resolve) => waiting.push({ name, begin: resolve }))
    return original(...given)
  }
  Object.assign(fs.promises, { [name]: held })
}
syncBuiltinESMExports()

/** From now on each `rename`, `chmod` and `unlink` of this process waits until `begin` lets it go. */
export const hold = (): void => {
  isHeld = true
}

/** Further ones do not wait. */
export const release = (): void => {
  isHeld = false
}

/** Resolves once one waits. */
export const reached = (): Promise<void> => until(() => waiting.length > 0, 'an operation of the disk that waits')

/** The names of those that wait once nothing else goes on. */
export const waitingAtRest = async (): Promise<string[]> => {
  await reached()
  for (let turn = 0; turn < TURNS; turn++) await new Promise((resolve) => setImmediate(resolve))
  return waiting.map(({ name }) => name)
}

/** Lets the next one go, which must be `name`. */
export const begin = async (name: 'rename' | 'chmod' | 'unlink'): Promise<void> => {
  await reached()
  const next = waiting.shift()
  if (next?.name !== name) throw new Error(`${next?.name} begins instead of ${name}`)
  next.begin()
}
