/** A name and its value: an environment variable or a platform property. */
export interface Named {
  readonly name: string
  readonly value: string
}

export interface NamedChange {
  readonly name: string
  /** Undefined if the name is on the other side only. Several values of one name are separated by commas. */
  readonly before: string | undefined
  readonly now: string | undefined
}

/** The names whose values differ, sorted; undefined if there is none. */
export const compareNamed = (before: readonly Named[], now: readonly Named[]): readonly NamedChange[] | undefined => {
  const left = valuesOf(before)
  const right = valuesOf(now)
  const names = [...new Set([...left.keys(), ...right.keys()])].sort()
  const changes = names
    .map((name) => ({ name, before: left.get(name), now: right.get(name) }))
    .filter((change) => change.before !== change.now)
  return changes.length === 0 ? undefined : changes
}

const valuesOf = (list: readonly Named[]): Map<string, string> => {
  const values = new Map<string, string[]>()
  for (const { name, value } of list) {
    const known = values.get(name)
    if (known === undefined) values.set(name, [value])
    else known.push(value)
  }
  return new Map([...values].map(([name, all]) => [name, all.sort().join(', ')]))
}
