import { distance } from 'fastest-levenshtein'

/** The candidate `word` was probably meant to be, if any is near enough. */
export const nearest = (word: string, candidates: Iterable<string>): string | undefined => {
  let best: { readonly candidate: string; readonly steps: number } | undefined
  for (const candidate of candidates) {
    const steps = distance(word.toLowerCase(), candidate.toLowerCase())
    if (steps <= Math.max(1, Math.floor(candidate.length / 3)) && steps < (best?.steps ?? Number.POSITIVE_INFINITY)) {
      best = { candidate, steps }
    }
  }
  return best?.candidate
}
