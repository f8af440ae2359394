import type { StateElsewhere } from '../../scheduler/scheduler.js'
import { Said } from '../parts/said.js'
import { Time } from '../parts/small.js'
import type { Overviews, ServerSources } from './sources.js'

interface Parts {
  readonly of: Pick<ServerSources, 'overviews'>
}

/** Where the queues are that belong to other processes, and whether those tell what they have. */
export const Elsewhere = ({ of: { overviews } }: Parts) => (
  <>
    {[...overviews()].map(([scheduler, { elsewhere }]) => {
      if (elsewhere === undefined) return null
      const { address, trouble } = elsewhere
      if (trouble === undefined)
        return <p class="dim">{`Scheduler ${scheduler}: queue and workers are those of ${address}.`}</p>
      return (
        <p class="note warn">
          {`Scheduler ${scheduler}: ${WORDS[trouble.kind](address)} `}
          <Time ms={trouble.sinceMs} />
          {': '}
          <Said text={trouble.reason} max={500} />
        </p>
      )
    })}
  </>
)

const WORDS: Readonly<Record<NonNullable<StateElsewhere['trouble']>['kind'], (address: string) => string>> = {
  unreachable: (address) => `the scheduler at ${address} is not reachable since`,
  refused: (address) =>
    `the scheduler at ${address} tells its queue only to callers with the permission administer. It has refused since`,
  unknown_to_it: (address) =>
    `the server at ${address} does not tell its queue, because it is another program or an older release. Asked first`,
}

/** The numbers of those queues together. */
export const elsewhereOf = (overviews: ReturnType<Overviews>, nowMs: number) => {
  const all = [...overviews.values()].filter(({ elsewhere }) => elsewhere !== undefined)
  const workers = all.flatMap((overview) => overview.workers)
  const since = all.flatMap(({ queue }) => [...queue].map((one) => one.overview().queuedMs))
  return {
    queued: all.reduce((sum, { queued }) => sum + queued, 0) + workers.reduce((sum, { waiting }) => sum + waiting, 0),
    running: workers.reduce((sum, { running }) => sum + running, 0),
    workers: workers.length,
    oldestMs: since.length === 0 ? 0 : nowMs - since.reduce((oldest, one) => Math.min(oldest, one)),
    results: all.flatMap(({ elsewhere }) => Object.entries(elsewhere?.results ?? {})),
  }
}
