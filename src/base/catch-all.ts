/** As a name in a configuration: every name that has no entry of its own. */
export const CATCH_ALL = '*'

/** The entry for exactly this name or, where there is none, the one for every other name. */
export const entryFor = <T>(entries: ReadonlyMap<string, T>, name: string): T | undefined =>
  entries.get(name) ?? entries.get(CATCH_ALL)
