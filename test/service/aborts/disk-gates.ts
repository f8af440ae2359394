// Import this before any source: sources keep the functions of node:fs that they find when they are loaded.
import fs from 'node:fs'
import { syncBuiltinESMExports } from 'node:module'

/** A point that the disk has reached and does not leave before `open`. */
export interface Held {
  /** Resolves when the disk is at the point. */
  readonly reached: Promise<void>
  open(): void
}

interface Gate {
  left: number
  reach(): void
  readonly opened: Promise<void>
}

let gate: Gate | undefined
let points = 0

/** How many points the disk has come to. */
export const pointCount = (): number => points

/**
 * Holds the operation of the disk at its point `index` from now on. Each has two points, before it begins and after it has ended: so
 * every await of whoever writes or reads files is one. All other operations go on.
 */
export const holdAt = (index: number): Held => {
  let [reach, open] = [(): void => {}, (): void => {}]
  const reached = new Promise<void>((resolve) => {
    reach = resolve
  })
  const opened = new Promise<void>((resolve) => {
    open = resolve
  })
  const own: Gate = { left: index, reach, opened }
  gate = own
  return {
    reached,
    open: () => {
      if (gate === own) gate = undefined
      open()
    },
  }
}

const point = (): Promise<void> | undefined => {
  points += 1
  if (gate === undefined || gate.left-- !== 0) return undefined
  gate.reach()
  return gate.opened
}

// biome-ignore lint/suspicious/noExplicitAny: functions of every signature are wrapped.
type Any = any

/** A function with a callback. Promisified forms depend on properties of the original. */
const gateCallback = (name: 'open' | 'read' | 'writev' | 'close' | 'fsync'): void => {
  const original: Any = fs[name]
  const gated = (...given: Any[]): void => {
    const callback = given.pop()
    const begin = (): void =>
      original(...given, (...results: Any[]) => {
        const after = point()
        if (after === undefined) callback(...results)
        else void after.then(() => callback(...results))
      })
    const before = point()
    if (before === undefined) begin()
    else void before.then(begin)
  }
  Object.defineProperties(gated, Object.getOwnPropertyDescriptors(original))
  ;(fs as Any)[name] = gated
}

const gatePromise = (owner: Any, name: string): void => {
  const original = owner[name]
  owner[name] = async function (this: unknown, ...given: Any[]): Promise<unknown> {
    await point()
    const result = await original.apply(this, given)
    await point()
    return result
  }
}

for (const name of ['open', 'read', 'writev', 'close', 'fsync'] as const) gateCallback(name)
for (const name of ['open', 'rename', 'unlink']) gatePromise(fs.promises, name)
// Before the first await: modules that are imported beside this one do not wait for it.
syncBuiltinESMExports()

const probe = await fs.promises.open('/dev/null')
const handles = Object.getPrototypeOf(probe)
await probe.close()
for (const name of ['write', 'read', 'close', 'appendFile', 'sync', 'stat']) gatePromise(handles, name)
