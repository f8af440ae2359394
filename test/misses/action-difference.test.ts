import fc from 'fast-check'
import t from 'tap'
import { compareActions, type DifferenceKind } from '../../src/misses/action-difference.js'
import { evidenceOf } from '../../src/misses/evidence.js'
import { History } from '../../src/misses/history.js'
import { compareLists } from '../../src/misses/list-difference.js'
import type { Tree } from './trees.js'
import { type Described, World } from './world.js'

const text = fc.constantFrom('', 'a', 'b', 'ü')
const named = fc.uniqueArray(fc.record({ name: fc.constantFrom('A', 'B'), value: text }), {
  selector: ({ name }) => name,
})

const described = fc.record({
  salt: text,
  seconds: fc.constantFrom(undefined, 1, 2),
  doNotCache: fc.boolean(),
  properties: named,
  arguments: fc.array(text, { maxLength: 4 }),
  environmentVariables: named,
  outputPaths: fc.uniqueArray(text, { maxLength: 2 }),
  workingDirectory: text,
  file: text,
})
type Random = typeof described extends fc.Arbitrary<infer T> ? T : never

const actionOf = ({ salt, seconds, doNotCache, properties, file, ...command }: Random): Described => ({
  action: {
    ...{ salt: Buffer.from(salt), doNotCache, platform: { properties } },
    timeout: seconds === undefined ? null : { seconds },
  },
  command,
  inputs: { file } satisfies Tree,
})

const sorted = <T>(list: readonly T[]): string => JSON.stringify([...list].map((item) => JSON.stringify(item)).sort())

/** What differs, by comparing each part as text. */
const naive = (before: Random, now: Random): DifferenceKind[] => {
  const parts: [DifferenceKind, (of: Random) => unknown][] = [
    ['salt', ({ salt }) => salt],
    ['timeout', ({ seconds }) => seconds],
    ['caching', ({ doNotCache }) => doNotCache],
    ['platform', ({ properties }) => sorted(properties)],
    ['arguments', (of) => of.arguments],
    ['environment', ({ environmentVariables }) => sorted(environmentVariables)],
    ['outputs', ({ outputPaths }) => sorted(outputPaths)],
    ['working directory', ({ workingDirectory }) => workingDirectory],
    ['inputs', ({ file }) => file],
  ]
  const kinds = parts.filter(([, of]) => JSON.stringify(of(before)) !== JSON.stringify(of(now))).map(([kind]) => kind)
  return kinds.length === 0 && JSON.stringify(before) !== JSON.stringify(now) ? ['other'] : kinds
}

t.test('random pairs of actions: the differences are those of a comparison part by part', async (t) => {
  const world = await World.open()
  const { compareInputs, action } = evidenceOf(world, new History('', []), world.call)
  await fc.assert(
    fc.asyncProperty(described, described, fc.constantFrom(...Object.keys(SOME)), async (before, other, part) => {
      // Mostly pairs that have much in common.
      const now = { ...before, [part]: other[part as keyof Random] } as Random
      for (const one of [now, other]) {
        const [left, right] = [
          await action(await world.upload(actionOf(before))),
          await action(await world.upload(actionOf(one))),
        ]
        if (left === undefined || right === undefined) throw new Error('an Action is missing')
        const found = await compareActions(left, right, compareInputs)
        t.strictSame(
          found.map(({ kind }) => kind),
          naive(before, one),
        )
      }
    }),
    { numRuns: 200 },
  )
})

const SOME = fc.sample(described, 1)[0] as Random

t.test('lists that differ in everything are compared in bounded time', async (t) => {
  const list = (prefix: string): string[] => Array.from({ length: 20_000 }, (_, index) => `${prefix}${index}`)
  const found = compareLists(list('a'), list('b'))
  t.match(found, { removed: { length: 20_000 }, added: { length: 20_000 }, edits: { length: 2 } })
  const one = compareLists(list('a'), [...list('a').slice(0, 100), 'x', ...list('a').slice(101)])
  t.strictSame([one?.removed, one?.added], [['a100'], ['x']])
  t.equal(compareLists(list('a'), list('a')), undefined)
})
