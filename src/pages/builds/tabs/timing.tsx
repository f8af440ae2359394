import { counted, countText } from '../../../base/quantities.js'
import type { Details } from '../../../builds/detail/details.js'
import type { FileRef } from '../../../builds/detail/file-ref.js'
import { STEPS, wholeMs } from '../../../builds/own/facts.js'
import type { OwnExecution } from '../../../builds/own/record.js'
import type { Visit } from '../../page.js'
import { msData, textData } from '../../parts/data.js'
import { Said, saidText } from '../../parts/said.js'
import { durationText, Facts } from '../../parts/small.js'
import { type Column, Table } from '../../parts/table.js'
import type { CasOf } from '../blob-text.js'
import { type Step, stepsIn } from '../critical-path.js'
import { executionData } from '../data.js'
import { pageOf } from '../failure-view.js'
import { FileLink, linkOfFile } from '../file-view.js'
import type { InvocationTab, Seen } from '../invocation.js'
import { executionsOfSteps } from '../joined-steps.js'
import { type Profile, profileOf } from '../profile.js'
import { tookMsOf } from '../row.js'
import { Bar, COLOURS, Slowest, StepLegend, slowestOf, stepsText, WhereTimeWent } from './own-timing.js'

const WIDTH = 1000
const MAX_THREAD = 28
const ROW = 22
/** Of the names of threads, left of their work. */
const NAMES = 190
/** Below this share of the whole a bar would be thinner than half a pixel. */
const LEAST_WIDTH = 0.5

const timingData = async ({ details, visit, parts }: Seen): Promise<object> => {
  const { toolLogs = [], metrics } = details ?? {}
  const path = toolLogs.find(({ name }) => name === 'critical path')?.text
  const steps = path === undefined ? [] : stepsIn(details?.hidden(path) ?? path)
  const ran = await ranHere(steps, details, visit, parts.casOf)
  return {
    wallMs: metrics?.timingMetrics?.wallTimeInMs,
    criticalPath: steps.map((step) => {
      const execution = ran.get(step)
      return {
        what: textData(step.what),
        tookMs: msData(step.tookMs),
        remote: textData(step.remote),
        execution: execution && executionData(execution),
      }
    }),
    steps: details && Object.fromEntries(STEPS.map((step) => [step, msData(details.own.sums[step])])),
    executionCount: details?.own.executionCount,
    slowest: details && (await slowestOf(details.own, visit)).map(executionData),
  }
}

export const timingTab: InvocationTab = {
  address: 'timing',
  title: 'Timing',
  needsEvents: true,
  opensOthers: true,
  data: timingData,
  body: async ({ details, visit, parts, kept }) => {
    const { toolLogs = [], metrics } = details ?? {}
    const { timingMetrics: timing } = metrics ?? {}
    const path = toolLogs.find(({ name }) => name === 'critical path')?.text
    const steps = path === undefined ? [] : stepsIn(details?.hidden(path) ?? path)
    const ran = await ranHere(steps, details, visit, parts.casOf)
    const { file, profile } = await profileAmong(toolLogs, visit, parts.casOf)
    const trace = typeof profile === 'string' ? undefined : linkOfFile(file, visit)
    const slowest = details === undefined ? [] : await slowestOf(details.own, visit)
    const { runners = {} } = kept?.summary ?? {}
    const localCount = Object.entries(runners).reduce((sum, [name, count]) => sum + (isLocal(name) ? count : 0), 0)
    const took = (ms: number | undefined) => (ms === undefined || ms === 0 ? undefined : durationText(ms))
    return (
      <>
        <Facts
          of={[
            ['Wall time', took(timing?.wallTimeInMs)],
            ['CPU time of the client', took(timing?.cpuTimeInMs)],
            ['Analysis', took(timing?.analysisPhaseTimeInMs)],
            ['Execution', took(timing?.executionPhaseTimeInMs)],
          ]}
        />
        {details !== undefined && (
          <>
            <h2>Where the time went</h2>
            <WhereTimeWent
              sums={details.own.sums}
              count={details.own.executionCount}
              tookMs={kept && tookMsOf(kept.summary)}
              localCount={localCount}
            />
          </>
        )}
        <h2>Critical path</h2>
        {steps.length === 0 ? (
          <p class="none">The build sent none.</p>
        ) : (
          <>
            <p class="dim">No build with these actions is faster than these steps one after the other.</p>
            {steps.some(({ tookMs }) => tookMs > 0) && <PathPicture steps={steps} ran={ran} />}
            <Table caption={counted(steps.length, 'step')} columns={stepColumns(ran, visit)} rows={steps} none="" />
            {ran.size > 0 && <StepLegend unknown="at the client, or not timed" />}
          </>
        )}
        {slowest.length > 0 && (
          <>
            <h2>The slowest actions</h2>
            <Slowest of={slowest} visit={visit} />
            <StepLegend />
          </>
        )}
        <h2>Profile</h2>
        {typeof profile === 'string' ? (
          <p class="none">{profile}</p>
        ) : (
          <>
            {trace !== undefined && (
              <p>
                <button type="button" class="copy" data-trace={trace}>
                  Open in Perfetto
                </button>{' '}
                <span class="dim small scripted-only">
                  It opens ui.perfetto.dev, which gets the profile from this page.
                </span>
              </p>
            )}
            <ProfilePicture profile={profile} />
            <ul class="legend">
              {LEGEND.map((text, at) => (
                <li>
                  <svg viewBox="0 0 10 10" aria-hidden="true">
                    <rect class={`k${at}`} width="10" height="10" />
                  </svg>
                  {text}
                </li>
              ))}
            </ul>
            <p class="dim small">
              {`${counted(profile.works.length, 'piece')} of work on ${counted(profile.lanes.length, 'thread')}${profile.leftOut === 0 ? '' : `, the longest; ${countText(profile.leftOut)} shorter ones are left out`}. The whole file: `}
              {file && <FileLink file={file} visit={visit} />}
            </p>
          </>
        )}
        {toolLogs.length > 0 && (
          <>
            <h2>Files of the tool</h2>
            <ul>
              {toolLogs.map((one) => (
                <li>
                  <FileLink file={one} visit={visit} />
                </li>
              ))}
            </ul>
          </>
        )}
      </>
    )
  },
}

type RanHere = ReadonlyMap<Step, OwnExecution>

const ranHere = async (
  steps: readonly Step[],
  details: Details | undefined,
  visit: Visit,
  casOf: CasOf,
): Promise<RanHere> => (details === undefined ? new Map() : executionsOfSteps(steps, details, { visit, casOf }))

/** Steps that ran here have a bar of their own times; its length is that of the step. */
const stepColumns = (ran: RanHere, visit: Visit): readonly Column<Step>[] => [
  { head: 'Took', kind: 'number', cell: ({ tookMs }) => durationText(tookMs) },
  {
    head: 'Step',
    kind: 'name',
    cell: (step) => {
      const { what, remote, tookMs } = step
      const own = ran.get(step)
      const page = own && pageOf(own, visit)
      return (
        <>
          {page === undefined ? (
            <Said text={what} />
          ) : (
            <a href={page}>
              <Said text={what} />
            </a>
          )}
          {own !== undefined && (
            <>
              <Bar of={own} scaleMs={Math.max(tookMs, wholeMs(own))} />
              <span class="under">{stepsText(own)}</span>
            </>
          )}
          {own === undefined && remote !== undefined && (
            <span class="under">
              <Said text={`remote: ${remote}`} max={200} />
            </span>
          )}
        </>
      )
    },
  },
]

/** Runners of the client itself. */
const isLocal = (name: string): boolean => name !== 'total' && name !== 'internal' && !/remote|cache hit/.test(name)

/** By its usual name, else by its content: `--profile` may name any file. */
const profileAmong = async (logs: readonly FileRef[], visit: Visit, casOf: CasOf) => {
  const named = logs.filter(({ name }) => /profile/.test(name))
  const others = logs.filter(({ name }) => !/profile/.test(name) && /\.(gz|json|prof)$/.test(name))
  let found: { file: FileRef; profile: Profile | string } | undefined
  for (const file of [...named, ...others].slice(0, MAX_PROFILES)) {
    const profile = await profileOf(file, visit, casOf)
    if (typeof profile !== 'string') return { file, profile }
    found ??= { file, profile }
  }
  return found ?? { file: undefined, profile: 'The events name no profile.' }
}

const MAX_PROFILES = 4

interface Piece {
  readonly x: number
  readonly width: number
  readonly colour: string
  readonly title: string
}

/** Bars one behind the other: each step begins where the one before it ended. What ran here is cut into its parts. */
const PathPicture = ({ steps, ran }: { readonly steps: readonly Step[]; readonly ran: RanHere }) => {
  const wholePathMs = steps.reduce((sum, { tookMs }) => sum + tookMs, 0) || 1
  const wide = (ms: number): number => (WIDTH * ms) / wholePathMs
  let fromMs = 0
  const pieces = steps.flatMap((step): Piece[] => {
    const { what, tookMs } = step
    const own = ran.get(step)
    const x = wide(fromMs)
    fromMs += tookMs
    const title = saidText(`${durationText(tookMs)}: ${what}`)
    const whole = { x, width: Math.max(LEAST_WIDTH, wide(tookMs) - 1), colour: 'unknown', title }
    if (own === undefined) return [whole]
    let atMs = fromMs - tookMs
    // Clocks differ: never longer than the step.
    const scale = Math.min(1, tookMs / (wholeMs(own) || 1))
    const parts = STEPS.map((name): Piece => {
      const partMs = (own[name] ?? 0) * scale
      const piece = { x: wide(atMs), width: wide(partMs), colour: COLOURS[name], title }
      atMs += partMs
      return piece
    })
    return [whole, ...parts.filter(({ width }) => width >= LEAST_WIDTH)]
  })
  return (
    <svg
      class="picture"
      viewBox={`0 0 ${WIDTH} 40`}
      role="img"
      aria-label="Critical path; the table below says the same"
    >
      {pieces.map(({ x, width, colour, title }) => (
        <rect class={colour} x={round(x)} y="4" width={round(width)} height="32">
          <title>{title}</title>
        </rect>
      ))}
    </svg>
  )
}

const ProfilePicture = ({ profile: { lanes, works, endMs } }: { readonly profile: Profile }) => {
  const rows = new Map(lanes.map(({ id }, at) => [id, at]))
  const height = lanes.length * ROW + 20
  const wide = (ms: number): number => round(((WIDTH - NAMES) * ms) / (endMs || 1))
  return (
    <svg
      class="picture"
      viewBox={`0 0 ${WIDTH} ${height}`}
      role="img"
      aria-label="Profile; the longest are in the table below"
    >
      {ticksOf(endMs).map((ms) => (
        <>
          <line class="grid" x1={round(NAMES + wide(ms))} x2={round(NAMES + wide(ms))} y1="0" y2={height - 16} />
          <text class="axis" x={round(NAMES + wide(ms))} y={height - 4} text-anchor={ms === 0 ? 'start' : 'middle'}>
            {ms === 0 ? '0 s' : durationText(ms)}
          </text>
        </>
      ))}
      {lanes.map(({ name }, at) => (
        <text x="0" y={at * ROW + 15} class="lane">
          {saidText(name.length > MAX_THREAD ? `${name.slice(0, MAX_THREAD)}…` : name)}
        </text>
      ))}
      {works.map(({ lane, name, kind, fromMs, tookMs }) => (
        <rect
          class={`k${kindOf(kind)}`}
          x={round(NAMES + wide(fromMs))}
          y={(rows.get(lane) ?? 0) * ROW + 2}
          width={Math.max(LEAST_WIDTH, wide(tookMs))}
          height={ROW - 4}
        >
          <title>{saidText(`${durationText(tookMs)} from ${durationText(fromMs)}: ${name} (${kind})`)}</title>
        </rect>
      ))}
    </svg>
  )
}

/** Round times, some five to ten of them. */
const ticksOf = (endMs: number): readonly number[] => {
  const rough = endMs / 6
  const power = 10 ** Math.floor(Math.log10(rough || 1))
  const step = [1, 2, 5, 10].map((times) => times * power).find((one) => one >= rough) ?? 10 * power
  return Array.from({ length: Math.floor((endMs * 0.97) / step) + 1 }, (_, at) => at * step)
}

const round = (pixels: number): number => Math.round(pixels * 10) / 10

/** What the colours stand for. */
const LEGEND = ['other work', 'actions and local processes', 'remote, uploads, downloads', 'critical path'] as const

/** Colours by what a piece of work is about; the name says it too. */
const kindOf = (kind: string): number => {
  if (/remote|upload|download|cache/i.test(kind)) return 2
  if (/critical/i.test(kind)) return 3
  return /action|local|process|sandbox/i.test(kind) ? 1 : 0
}
