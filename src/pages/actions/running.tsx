import { countText } from '../../base/quantities.js'
import type { Digest } from '../../reapi/digest.js'
import type { PrintedOutput } from '../../scheduler/scheduler.js'
import type { Visit } from '../page.js'
import { Said } from '../parts/said.js'
import { Ago, Note } from '../parts/small.js'
import { plainLine, printedLines, Terminal, type TerminalText, terminalText } from '../parts/terminal.js'

/** An attempt of an action that runs now. */
export interface RunningAttempt {
  readonly worker: string
  readonly state: string
  readonly startedMs: number
  /** Undefined if its worker does not tell. */
  readonly printed: PrintedOutput | undefined
}

/** Undefined if the action does not run. */
export type PrintedOf = (instance: string, action: Digest) => Promise<RunningAttempt | undefined>

interface ShownOutput {
  readonly name: string
  readonly text: TerminalText
  readonly plain: readonly string[]
  readonly cutBytes: number
}

export interface Running extends RunningAttempt {
  readonly outputs: readonly ShownOutput[]
}

/** What an action has printed until now: the last lines, from the begin of one. */
export const runningOutput = async (
  printedOf: PrintedOf,
  instance: string,
  action: Digest,
): Promise<Running | undefined> => {
  const attempt = await printedOf(instance, action)
  if (attempt === undefined) return undefined
  const outputs: ShownOutput[] = []
  for (const [name, part] of [
    ['Standard output', attempt.printed?.stdout],
    ['Standard error', attempt.printed?.stderr],
  ] as const) {
    if (part === undefined || part.bytes.length === 0) continue
    const cutBytes = part.sizeBytes - part.bytes.length
    const lines = await printedLines(part.bytes.toString('utf8', cutBytes > 0 ? part.bytes.indexOf('\n') + 1 : 0))
    outputs.push({ name, text: await terminalText(lines), plain: lines.map(plainLine), cutBytes })
  }
  return { ...attempt, outputs }
}

export const runningData = ({ outputs }: Running): object => ({
  lines: outputs.flatMap(({ plain }) => plain),
  bytesAbove: outputs.reduce((sum, { cutBytes }) => sum + cutBytes, 0),
})

export const RunningOutput = ({
  of: { worker, state, startedMs, printed, outputs },
  visit,
}: {
  readonly of: Running
  readonly visit: Visit
}) => (
  <>
    <h2>It runs now</h2>
    <p>
      <Said text={`${state} on ${worker}, begun `} />
      <Ago ms={startedMs} nowMs={visit.nowMs} />
    </p>
    {printed === undefined && <Note>Its worker does not tell what it prints.</Note>}
    {printed !== undefined && outputs.length === 0 && <p class="none">It has printed nothing yet.</p>}
    {outputs.map(({ name, text, cutBytes }) => (
      <>
        <h3>{name}</h3>
        {cutBytes > 0 && <p class="dim small above">{`${countText(cutBytes)} bytes above`}</p>}
        <Terminal label={`${name} until now`} text={text} isAtEnd />
      </>
    ))}
  </>
)
