import type { Outcome } from '../../builds/summary.js'
import type { Tone } from '../parts/small.js'

/** Without build events, an invocation is known by its requests: to the caches only, or also for actions that ran here. */
export type ShownOutcome = Outcome | 'cache only' | 'no events'

const SHOWN: Readonly<Record<ShownOutcome, { readonly tone: Tone; readonly sign: string }>> = {
  running: { tone: 'run', sign: '●' },
  succeeded: { tone: 'good', sign: '✓' },
  failed: { tone: 'bad', sign: '✗' },
  'tests failed': { tone: 'bad', sign: '✗' },
  interrupted: { tone: 'warn', sign: '■' },
  incomplete: { tone: 'warn', sign: '◐' },
  'cache only': { tone: 'dim', sign: '○' },
  'no events': { tone: 'dim', sign: '○' },
}

export const toneOfOutcome = (outcome: ShownOutcome): Tone => SHOWN[outcome].tone

export const OUTCOMES = Object.keys(SHOWN) as readonly ShownOutcome[]

/** The outcome as a word with a shape and a colour. */
export const OutcomeMark = ({ of, isBadge = false }: { readonly of: ShownOutcome; readonly isBadge?: boolean }) => {
  const { tone, sign } = SHOWN[of]
  return (
    <span class={`${isBadge ? 'badge' : 'mark'} ${tone}`}>
      <span aria-hidden="true">{sign}</span> {of}
    </span>
  )
}
