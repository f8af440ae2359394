/** In a configuration, the name that stands for every name without an entry of its own. */
export const CATCH_ALL = '*'

/** The entry for exactly this name, else the one for every other name. */
export const entryFor = <T>(entries: ReadonlyMap<string, T>, name: string): T | undefined =>
  entries.get(name) ?? entries.get(CATCH_ALL)
