import type { Htpasswd } from './htpasswd.js'

/** The hash to compare a password with, and further ones to compare when it is wrong. */
export interface Trial {
  readonly hash: string
  readonly standIns: readonly string[]
}

const DEFAULT_COST = 10

/** The cost of a bcrypt hash: a comparison takes 2^cost rounds. */
export const costOf = (hash: string): number => Number(hash.slice(4, 6))

/** A hash that matches no password. */
const standInOf = (cost: number): string =>
  `$2b$${String(cost).padStart(2, '0')}$mQ8XGg2wHWvYKWg6pH/BRuNrUUIPHarxHpzZGj37eGFgB.yJHO3c6`

/**
 * Makes every refusal take as many rounds as the most expensive hash in the file, whether or not the name exists. Let m
 * be the highest cost. For a hash of cost c, stand-ins of the costs c, c + 1, ..., m - 1 add the missing rounds: 2^c +
 * 2^c + 2^(c+1) + ... + 2^(m-1) = 2^m.
 */
export const trials = (hashes: Htpasswd): ((name: string) => Trial) => {
  const maxCost = hashes.size === 0 ? DEFAULT_COST : Math.max(...[...hashes.values()].map(costOf))
  const nobody: Trial = { hash: standInOf(maxCost), standIns: [] }
  const standIns = new Map<number, readonly string[]>()
  for (let cost = maxCost, dearer: readonly string[] = []; cost > 0; cost--) {
    standIns.set(cost, dearer)
    dearer = [standInOf(cost - 1), ...dearer]
  }
  return (name) => {
    const hash = hashes.get(name)
    return hash === undefined ? nobody : { hash, standIns: standIns.get(costOf(hash)) ?? [] }
  }
}
