import { outcomeOf } from '../../builds/summary.js'
import type { ShownOutcome } from './outcome.js'
import { outcomeOfGroup } from './request-groups.js'
import type { Seen } from './seen.js'

/** Of a build of which something is known. */
export const shownOutcomeOf = ({ kept, group }: Pick<Seen, 'kept' | 'group'>): ShownOutcome => {
  if (kept !== undefined) return outcomeOf(kept.summary, kept.isOpen)
  return group === undefined ? 'cache only' : outcomeOfGroup(group)
}
