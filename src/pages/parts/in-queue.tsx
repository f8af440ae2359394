import { countText } from '../../base/quantities.js'
import type { Visit } from '../page.js'

/** Operations of this server that the reader may see: those of a build, or those about an action. */
export interface InQueue {
  readonly running: number
  readonly waiting: number
  readonly failed: number
}

/** Links to the lists of the queue that have some of them. Nothing if none has. `only` is what the queue is filtered by. */
export const InQueueLinks = ({
  of: counts,
  visit,
  only,
}: {
  readonly of: InQueue
  readonly visit: Visit
  readonly only: Readonly<Record<string, string>>
}) => {
  const lists = LISTS.filter(({ name }) => counts[name] > 0)
  if (lists.length === 0) return null
  return (
    <p>
      In the queue:{' '}
      {lists.map(({ name, words, show }, at) => (
        <>
          {at > 0 && ', '}
          <a href={visit.to('queue', { ...only, show })}>{`${countText(counts[name])} ${words}`}</a>
        </>
      ))}
    </p>
  )
}

const LISTS = [
  { name: 'running', words: 'running', show: undefined },
  { name: 'waiting', words: 'waiting', show: 'waiting' },
  { name: 'failed', words: 'failed lately', show: 'failed' },
] as const
