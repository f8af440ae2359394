import { distance } from 'fastest-levenshtein'

/** The candidate that `word` was probably meant to be, if one is similar enough. */
export const nearest = (word: string, candidates: Iterable<string>): string | undefined => {
  let best: { readonly candidate: string; readonly steps: number } | undefined
  for (const candidate of candidates) {
    const steps = stepsBetween(word.toLowerCase(), candidate.toLowerCase())
    if (steps <= Math.max(1, Math.floor(candidate.length / 3)) && steps < (best?.steps ?? Number.POSITIVE_INFINITY)) {
      best = { candidate, steps }
    }
  }
  return best?.candidate
}

/** Letters in another order, as in `CSA` for `CAS`, count as half a step, because this is a common mistake. */
const stepsBetween = (word: string, candidate: string): number =>
  word !== candidate && sorted(word) === sorted(candidate) ? 0.5 : distance(word, candidate)

const sorted = (word: string): string => [...word].sort().join('')

/** A list of names as the text of an expectation. */
export const oneOf = (names: readonly string[]): string =>
  names.length === 1 ? String(names[0]) : `one of ${names.join(', ')}`
