import type { Findings } from '../findings.js'
import type { Path } from '../read/path.js'
import type { Normaliser, Reference } from '../schema/normalise.js'
import { withNested } from '../store-path.js'
import { nearest, oneOf } from '../suggest.js'
import type { LintContext } from './context.js'

/** Of more names, only these are offered in place of an unknown one. */
const NAMED_MAX = 1_000

/** Every referenced name must be defined. `repeated` has the keys that are written twice, whose names may be lost. */
export const lintReferences = (
  { references, declared }: Normaliser,
  findings: Findings,
  repeated: readonly Path[],
): void => {
  const isPartial = (to: Reference['to']): boolean => repeated.some((path) => path.length === 1 && path[0] === to)
  for (const { path, to, name } of references) {
    if (isPartial(to) || declared[to].has(name)) continue
    const defined = [...declared[to].keys()].slice(0, NAMED_MAX)
    const what = to === 'stores' ? 'store' : 'scheduler'
    findings.error(path, `there is no ${what} ${JSON.stringify(name)}`, {
      found: JSON.stringify(name),
      expected: defined.length > 0 ? oneOf(defined) : `a ${what} defined in ${to}`,
      suggestion: nearest(name, defined),
    })
  }
}

/** Stores must not refer to each other in a cycle, because building them would never end. */
export const lintCycles = ({ config: { stores }, findings, originOf }: LintContext): void => {
  const reported = new Set<string>()
  /** Whatever is below them was followed. */
  const followed = new Set<string>()
  const follow = (name: string, trail: readonly string[]): void => {
    const store = stores.get(name)
    for (const nested of store ? withNested(store) : []) {
      if (nested.kind !== 'ref_store' || reported.has(name)) continue
      const circle = [...trail, name]
      const target = nested.options.name
      if (followed.has(target)) continue
      if (!circle.includes(target)) follow(target, circle)
      else {
        const round = circle.slice(circle.indexOf(target))
        for (const member of round) reported.add(member)
        findings.error(
          [...originOf(nested.options), 'name'],
          `stores refer to each other in a circle: ${[...round, target].join(' -> ')}`,
          {
            found: JSON.stringify(target),
            expected: 'a store that does not lead back here',
          },
        )
      }
    }
    followed.add(name)
  }
  for (const name of stores.keys()) if (!followed.has(name)) follow(name, [])
}

/** An unused store or scheduler is probably a mistake. */
export const lintUnused = ({ references, declared }: Normaliser, findings: Findings): void => {
  const used = new Set(references.map(({ to, name }) => JSON.stringify([to, name])))
  const isUsed = (to: Reference['to'], name: string) => used.has(JSON.stringify([to, name]))
  for (const to of ['stores', 'schedulers'] as const) {
    for (const [name, path] of declared[to]) {
      if (isUsed(to, name)) continue
      findings.warning(path, `the ${to === 'stores' ? 'store' : 'scheduler'} ${JSON.stringify(name)} is used nowhere`, {
        at: 'key',
      })
    }
  }
}
