import type { ServerConfig } from './config.js'

/** The stores that are an action cache of some instance, and the CAS of none. */
export const resultStoresOf = (servers: readonly ServerConfig[]): ReadonlySet<string> => {
  const all = servers.map(({ services }) => services)
  const results = all.flatMap(({ ac, execution }) => [...ac.values(), ...execution.values()].map((one) => one.ac_store))
  const content = all.flatMap(({ cas, bytestream, execution }) =>
    [...cas.values(), ...bytestream.values(), ...execution.values()].map((one) => one.cas_store),
  )
  return new Set(results.filter((name) => !content.includes(name)))
}
