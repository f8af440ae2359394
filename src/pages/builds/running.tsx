import { counted, countText } from '../../base/quantities.js'
import type { Details } from '../../builds/detail/details.js'
import { Digest } from '../../reapi/digest.js'
import { addressOf } from '../actions/address.js'
import type { Visit } from '../page.js'
import { textData, timeData } from '../parts/data.js'
import { Said } from '../parts/said.js'
import { durationText, Mark } from '../parts/small.js'
import { type Column, Table } from '../parts/table.js'
import { plainLine, Terminal, type TerminalText, terminalText } from '../parts/terminal.js'
import type { Active, ActiveAction } from '../server/operations.js'

/** Of the log. */
const TAIL_LINES = 20
/** Further actions that run are counted. */
const MAX_RUNNING = 30

/** `[412 / 1,900] 8 actions running`, as Bazel prints it with and without a terminal. */
const PROGRESS = /\[([\d,]+) \/ ([\d,]+)\]/g

/** How far a build is. */
export interface Progress {
  readonly done: number
  readonly total: number
}

/** What the client printed last about its progress; undefined if it has not. */
export const progressIn = ({ console: { lines } }: Details): Progress | undefined => {
  for (let at = lines.length - 1; at >= 0 && at >= lines.length - 200; at--) {
    const line = lines[at]
    const last = line && [...plainLine(line).matchAll(PROGRESS)].at(-1)
    if (last) return { done: numberIn(last[1]), total: numberIn(last[2]) }
  }
  return undefined
}

const numberIn = (text = ''): number => Number(text.replaceAll(',', ''))

export interface RunningParts {
  readonly active: Active
  readonly progress: Progress | undefined
  readonly tail: TerminalText
}

export const runningParts = async (details: Details | undefined, active: Active): Promise<RunningParts> => ({
  active,
  progress: details && progressIn(details),
  tail: await terminalText(details?.console.lines.slice(-TAIL_LINES) ?? []),
})

export const runningBuildData = (details: Details | undefined, { running, waiting }: Active): object => {
  const lines = details?.console.lines ?? []
  return {
    progress: {
      ...(details && progressIn(details)),
      waiting,
      running: running.slice(0, MAX_RUNNING).map((one) => ({
        action: one.action,
        target: textData(one.target),
        mnemonic: textData(one.mnemonic),
        state: one.state,
        since: timeData(one.sinceMs),
        worker: textData(one.worker),
      })),
    },
    tail: {
      lines: lines.slice(-TAIL_LINES).map(plainLine),
      linesAbove: Math.max(0, lines.length - TAIL_LINES) + (details?.console.droppedLines ?? 0),
    },
  }
}

/** What a build does now: how far it is, what runs and for how long, and the end of its log. */
export const RunningBuild = ({
  of: { active, progress, tail },
  visit,
}: {
  readonly of: RunningParts
  readonly visit: Visit
}) => {
  const { running, waiting } = active
  const words = [
    ...(progress === undefined ? [] : [`${countText(progress.done)} of ${counted(progress.total, 'action')}`]),
    `${countText(running.length)} running here`,
    ...(waiting === 0 ? [] : [`${countText(waiting)} waiting`]),
  ]
  return (
    <>
      <h2>Now</h2>
      <p>
        <b>{words.join(', ')}</b>
      </p>
      {progress !== undefined && (
        <svg class="parts" viewBox="0 0 1000 10" preserveAspectRatio="none" aria-hidden="true">
          <rect class="k0" width="1000" height="10" opacity=".3" />
          <rect class="k1" width={((1000 * progress.done) / Math.max(1, progress.total)).toFixed(1)} height="10" />
        </svg>
      )}
      {running.length > 0 && (
        <Table
          caption={
            running.length > MAX_RUNNING
              ? `The ${MAX_RUNNING} that run longest of ${countText(running.length)}`
              : counted(running.length, 'action')
          }
          columns={columnsOf(visit)}
          rows={running.slice(0, MAX_RUNNING)}
          none=""
        />
      )}
      {tail.lineCount > 0 && (
        <>
          <h2>The end of its log</h2>
          <Terminal label="The end of the log" text={tail} isAtEnd />
        </>
      )}
    </>
  )
}

const columnsOf = (visit: Visit): readonly Column<ActiveAction>[] => [
  {
    head: 'Action',
    kind: 'name',
    cell: ({ target, mnemonic, action = '', instance = '' }) => {
      const digest = Digest.ofKey(action)
      const text = <Said text={target || action.slice(0, 12)} />
      return (
        <>
          {digest === undefined ? text : <a href={visit.to(addressOf(instance, 'action', digest))}>{text}</a>}
          {mnemonic !== undefined && (
            <span class="under">
              <Said text={mnemonic} max={80} />
            </span>
          )}
        </>
      )
    },
  },
  { head: 'State', cell: ({ state }) => <Mark tone="run">{state}</Mark> },
  { head: 'For', kind: 'number', cell: ({ sinceMs }) => durationText(Math.max(0, visit.nowMs - sinceMs)) },
  {
    head: 'Worker',
    kind: 'text',
    cell: ({ worker = '' }) => <Said text={worker} max={80} />,
  },
]
