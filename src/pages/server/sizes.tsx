import { counted, countText, sizeText } from '../../base/quantities.js'
import type { LearnedKind, LearnedOverview } from '../../scheduler/scheduler.js'
import type { Page } from '../page.js'
import { textData } from '../parts/data.js'
import { mappedInTurns } from '../parts/in-turns.js'
import { Said } from '../parts/said.js'
import { type Column, Pager, paged, pagedData, sortedRows, Table } from '../parts/table.js'
import { Elsewhere } from './elsewhere.js'
import { isFor } from './queue.js'
import type { Overviews, ServerSources } from './sources.js'

/** What the actions of a target and mnemonic have learned to need from a scheduler. */
interface Row extends LearnedKind {
  readonly scheduler: string
}

/** Of the schedulers whose queue is in this process. */
const learnedIn = (overviews: ReturnType<Overviews>): readonly (readonly [string, LearnedOverview])[] =>
  [...overviews].flatMap(([name, { learned }]) => (learned === undefined ? [] : [[name, learned] as const]))

/** What actions have learned to need, each kind of them for readers of its instance's results, and for operators. */
export const sizesPage = (sources: ServerSources): Page => ({
  address: /^sizes$/,
  access: 'caller',
  show: async (visit) => {
    const all = learnedIn(sources.overviews())
    const mayRead = isFor(visit)
    const found: Row[] = []
    for (const [scheduler, { kinds }] of all) {
      const take = (kind: LearnedKind): Row | undefined => (mayRead(kind) ? { ...kind, scheduler } : undefined)
      found.push(...(await mappedInTurns(kinds, take)))
    }
    if (visit.isForProgram) {
      const page = paged(found, visit)
      const schedulers = all.map(([scheduler, { use, compared }]) => ({ scheduler, use, compared }))
      return { title: 'Sizes', body: null, data: { ...pagedData(page), schedulers, kinds: page.rows.map(dataOf) } }
    }
    const columns = columnsOf(all.length > 1)
    const { rows, sorting } = await sortedRows(found, columns, visit, '-memory')
    const page = paged(rows, visit)
    const body = (
      <>
        <h1>Sizes</h1>
        <Elsewhere of={sources} />
        <p class="dim">
          What actions need by their last runs, eight at most, of the same target and mnemonic: the largest of these,
          and what follows for the next one. A restart begins anew.
        </p>
        {all.map(([scheduler, learned]) => (
          <p>
            <b>
              <Said text={`Scheduler ${scheduler}: ${learned.use}.`} />
            </b>{' '}
            <Said text={wordsOf(learned)} />
          </p>
        ))}
        <Table
          caption={counted(page.count, 'kind')}
          {...{ columns, rows: page.rows, none: 'Nothing is known yet.', visit, sorting }}
        />
        <Pager of={page} visit={visit} />
      </>
    )
    return { title: 'Sizes', body }
  },
})

const wordsOf = ({ use, compared }: LearnedOverview): string => {
  if (use === 'off') return 'Nothing is learned.'
  if (compared.length === 0)
    return 'Nothing is reserved: neither memory nor processors are minimum in supported_platform_properties.'
  const names = compared.join(' and ')
  if (use === 'hint') return `Nothing is reserved; with on, the next runs would reserve ${names}.`
  return `The next runs reserve ${names}, unless they ask for more or no worker has as much.`
}

const dataOf = ({ scheduler, instance, scope, target, mnemonic, memory, cpus, raisedBytes }: Row) => ({
  ...{ scheduler, instance, scope: textData(scope), target: textData(target), mnemonic: textData(mnemonic) },
  ...(memory.runs > 0 && { memory }),
  ...(cpus.runs > 0 && { cpus }),
  ...(raisedBytes > 0 && { raisedBytes }),
})

/** One decimal, as processors are counted. */
const cpusText = (cpus: number): string => (cpus === 0 ? '–' : cpus.toFixed(1))

const columnsOf = (hasSchedulers: boolean): readonly Column<Row>[] => [
  {
    head: 'Target',
    kind: 'name',
    cell: ({ target = '', mnemonic = '', instance, scope, scheduler }) => (
      <>
        <Said text={target || '(no target)'} />
        <span class="under">
          <Said text={[mnemonic, instance, scope, hasSchedulers && scheduler].filter(Boolean).join(' · ')} />
        </span>
      </>
    ),
    sort: 'target',
    by: ({ target }) => target,
  },
  {
    head: 'Memory',
    kind: 'number',
    cell: ({ memory: { runs, mostBytes } }) => <Most text={sizeText(mostBytes)} runs={runs} />,
    sort: 'memory',
    by: ({ memory: { runs, mostBytes } }) => (runs === 0 ? undefined : mostBytes),
  },
  {
    head: 'Memory of the next run',
    kind: 'number',
    cell: ({ memory: { runs, nextBytes } }) => (runs === 0 ? '–' : sizeText(nextBytes)),
    sort: 'next-memory',
    by: ({ memory: { runs, nextBytes } }) => (runs === 0 ? undefined : nextBytes),
  },
  {
    head: 'Limit since it was ended at one',
    kind: 'number',
    cell: ({ raisedBytes }) => (raisedBytes === 0 ? '–' : sizeText(raisedBytes)),
    sort: 'raised',
    by: ({ raisedBytes }) => raisedBytes,
  },
  {
    head: 'Processors',
    kind: 'number',
    cell: ({ cpus: { runs, most } }) => <Most text={cpusText(most)} runs={runs} />,
    sort: 'processors',
    by: ({ cpus: { runs, most } }) => (runs === 0 ? undefined : most),
  },
  {
    head: 'Processors of the next run',
    kind: 'number',
    cell: ({ cpus: { runs, next } }) => (runs === 0 ? '–' : countText(next)),
    sort: 'next-processors',
    by: ({ cpus: { runs, next } }) => (runs === 0 ? undefined : next),
  },
]

const Most = ({ text, runs }: { readonly text: string; readonly runs: number }) =>
  runs === 0 ? (
    <>–</>
  ) : (
    <>
      {text}
      <span class="under">{counted(runs, 'run')}</span>
    </>
  )
