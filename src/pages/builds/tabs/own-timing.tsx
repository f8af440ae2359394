import { counted, countText } from '../../../base/quantities.js'
import { type OwnFacts, STEPS, type StepSums, wholeMs } from '../../../builds/own/facts.js'
import type { OwnExecution } from '../../../builds/own/record.js'
import type { Visit } from '../../page.js'
import { sortedInTurns } from '../../parts/in-turns.js'
import { Said, saidText } from '../../parts/said.js'
import { durationText } from '../../parts/small.js'
import { type Column, Table } from '../../parts/table.js'
import { pageOf } from '../failure-view.js'

const MAX_SLOWEST = 20

/** What the steps are called, in the order of their colours. */
type OwnStep = (typeof STEPS)[number]

export const STEP_NAMES: Readonly<Record<OwnStep, string>> = {
  queueMs: 'in the queue',
  fetchMs: 'getting inputs',
  runMs: 'running',
  uploadMs: 'uploading outputs',
}

/** Colours of the steps; the legend says the same. */
export const COLOURS: Readonly<Record<OwnStep, string>> = {
  queueMs: 'k0',
  fetchMs: 'k2',
  runMs: 'k1',
  uploadMs: 'k3',
}

/** The executions that took longest, of those that the reader may see. */
export const slowestOf = async ({ executions }: OwnFacts, visit: Visit): Promise<readonly OwnExecution[]> => {
  const seen = executions.filter(({ instance }) => visit.may('read_ac', instance))
  return (await sortedInTurns(seen, (a, b) => wholeMs(b) - wholeMs(a))).slice(0, MAX_SLOWEST)
}

/** Bars with one scale for all of them, so that they can be compared. */
export const Bar = ({ of, scaleMs }: { readonly of: Pick<OwnExecution, OwnStep>; readonly scaleMs: number }) => {
  let at = 0
  return (
    <svg class="steps" viewBox="0 0 1000 12" preserveAspectRatio="none" aria-hidden="true">
      {STEPS.map((step) => {
        const width = (1000 * (of[step] ?? 0)) / Math.max(scaleMs, 1)
        const x = at
        at += width
        return width === 0 ? null : (
          <rect class={COLOURS[step]} x={x.toFixed(1)} width={Math.max(1, width).toFixed(1)} height="12" />
        )
      })}
    </svg>
  )
}

interface LegendParts {
  readonly textOf?: (step: OwnStep) => string
  /** What time is that has no colour. */
  readonly unknown?: string
}

/** The colour of each step, with its name or what `textOf` says. */
export const StepLegend = ({ textOf = (step) => STEP_NAMES[step], unknown }: LegendParts) => (
  <ul class="legend">
    {STEPS.map((step) => (
      <Named colour={COLOURS[step]} text={textOf(step)} />
    ))}
    {unknown !== undefined && <Named colour="unknown" text={unknown} />}
  </ul>
)

const Named = ({ colour, text }: { readonly colour: string; readonly text: string }) => (
  <li>
    <svg viewBox="0 0 10 10" aria-hidden="true">
      <rect class={colour} width="10" height="10" />
    </svg>
    {text}
  </li>
)

interface WhereParts {
  readonly sums: StepSums
  readonly count: number
  /** Of the whole build; undefined if nobody said it. */
  readonly tookMs: number | undefined
  /** Actions that ran at the client, by what it says. */
  readonly localCount: number
}

/** Where the time of all executions went, added up: several run at a time. */
export const WhereTimeWent = ({ sums, count, tookMs, localCount }: WhereParts) => {
  const all = wholeMs(sums)
  if (count === 0) return <p class="none">Nothing of this build ran here.</p>
  const partOf = (step: OwnStep): string => (all === 0 ? '' : ` (${Math.round((100 * sums[step]) / all)} %)`)
  const atOnce = tookMs === undefined || tookMs === 0 ? undefined : all / tookMs
  return (
    <section aria-label="Where the time went">
      <Bar of={sums} scaleMs={all} />
      <StepLegend textOf={(step) => `${durationText(sums[step])} ${STEP_NAMES[step]}${partOf(step)}`} />
      <p class="dim small">
        {[
          `${counted(count, 'execution')}, their times added up`,
          ...(atOnce === undefined ? [] : [`${atOnce.toFixed(1)} of them at a time on average`]),
          ...(localCount === 0 ? [] : [`${countText(localCount)} more actions ran at the client`]),
        ].join('; ')}
        .
      </p>
    </section>
  )
}

export const Slowest = ({ of, visit }: { readonly of: readonly OwnExecution[]; readonly visit: Visit }) => {
  const scaleMs = Math.max(0, ...of.map(wholeMs))
  const columns: readonly Column<OwnExecution>[] = [
    {
      head: 'Action',
      kind: 'name',
      cell: (one) => {
        const page = pageOf(one, visit)
        const text = <Said text={one.target || one.action.slice(0, 12)} />
        return (
          <>
            {page === undefined ? text : <a href={page}>{text}</a>}
            <span class="under">
              <Said text={[one.mnemonic, one.worker].filter(Boolean).join(' · ')} max={120} />
            </span>
          </>
        )
      },
    },
    { head: 'Took', kind: 'number', cell: (one) => durationText(wholeMs(one)) },
    {
      head: 'Steps',
      kind: 'text',
      cell: (one) => (
        <>
          <Bar of={one} scaleMs={scaleMs} />
          <span class="under">{stepsText(one)}</span>
        </>
      ),
    },
  ]
  return <Table caption={`The slowest ${countText(of.length)}`} columns={columns} rows={of} none="Nothing ran here." />
}

export const stepsText = (one: OwnExecution): string =>
  saidText(
    STEPS.flatMap((step) => (one[step] === undefined ? [] : [`${durationText(one[step])} ${STEP_NAMES[step]}`])).join(
      ', ',
    ),
  )
