import type { StoreConfig } from '../../config/config.js'

/** For how long a store keeps a blob at least after its last use. */
export interface Promised {
  /** 0 for nothing, infinite if everything stays. The `retentionMs` of the built store says the same. */
  readonly retentionS: number
  /** For operators: how long, and on what condition. */
  readonly words: string
}

/** What the stores promise that a store is made of. */
export interface PromisesBelow {
  child(config: StoreConfig): Promised
  named(name: string): Promised
}

export const promisedFor = (retentionS: number, condition: string): Promised => ({
  retentionS,
  words: `${durationText(retentionS)} after the last use${condition === '' ? '' : `, ${condition}`}`,
})

export const promisesNothing = (because: string): Promised => ({ retentionS: 0, words: `nothing: ${because}` })

/** A blob may be in any of these stores, or needs them all. */
export const leastOf = (all: readonly Promised[]): Promised =>
  all.reduce((least, one) => (one.retentionS < least.retentionS ? one : least))

const UNITS = [
  ['d', 86_400],
  ['h', 3600],
  ['min', 60],
] as const

const durationText = (seconds: number): string => {
  const [unit, inS] = UNITS.find(([, inS]) => seconds >= inS) ?? ['s', 1]
  return `${Math.round((seconds / inS) * 10) / 10} ${unit}`
}
