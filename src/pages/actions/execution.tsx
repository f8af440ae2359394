import type { ComponentChildren } from 'preact'
import { sizeText } from '../../base/quantities.js'
import { holds, unpack } from '../../proto/any.js'
import { codec } from '../../proto/codec.js'
import type { ActionResult, ExecutedActionMetadata } from '../../proto/generated/build.bazel.remote.execution.v2.js'
import type { CommandUsage } from '../../proto/generated/remexec.worker.v1.js'
import { type Time as ProtoTime, toMs } from '../../proto/time.js'
import { originOf, processOf } from '../../reapi/result-origin.js'
import { msData, textData, timeData } from '../parts/data.js'
import { Said } from '../parts/said.js'
import { durationText, Facts, Time } from '../parts/small.js'

const usageCodec = codec('remexec.worker.v1.CommandUsage')

/** Where and when an action ran, what it took, and who wrote its result, as far as the result says so. */
export const Execution = ({
  of: result,
  seesOrigins,
}: {
  readonly of: ActionResult
  readonly seesOrigins: boolean
}) => {
  const metadata = result.executionMetadata
  if (metadata === null) return <p class="dim">Its writer did not say when and where it ran.</p>
  const origin = seesOrigins ? originOf(result) : undefined
  const packed = metadata.auxiliaryMetadata.find((any) => holds(any, usageCodec))
  const worker = [metadata.worker, origin?.workerIdentity].filter(Boolean).join(', ')
  const usage = packed && unpack(usageCodec, packed)
  const { process, processRequest = 0 } = processOf(result)
  const facts: (readonly [string, ComponentChildren])[] = [
    ['Written by', origin?.identity && <Said text={origin.identity} />],
    ['Scope', origin?.scope && <Said text={origin.scope} />],
    ['Confined', origin?.workerId && (origin.isConfined === true ? 'yes' : 'no')],
    ['Worker', worker && <Said text={worker} />],
    ['Persistent worker', process !== undefined && <Said text={`request ${processRequest} of process ${process}`} />],
    ['Ran', metadata.executionStartTimestamp && <Time ms={toMs(metadata.executionStartTimestamp)} />],
    ['Processor time', usage && durationText(ms(usage.userTime) + ms(usage.systemTime))],
    ['Peak memory', usage && memoryText(usage)],
  ]
  return (
    <>
      <h2>Execution</h2>
      <Facts of={facts.filter(([, value]) => value !== false)} />
      <Steps of={metadata} />
    </>
  )
}

/** Of all its processes, if they had a control group; else of the largest one. */
const memoryText = (usage: CommandUsage): string | false => {
  const { memoryPeakBytes: all, memoryLimitBytes: limit, peakResidentBytes: largest } = usage
  if (all > 0) return limit > 0 ? `${sizeText(all)} of ${sizeText(limit)}` : sizeText(all)
  return largest > 0 && sizeText(largest)
}

/** The same for programs. */
export const executionFactsData = (result: ActionResult, seesOrigins: boolean): object | undefined => {
  const metadata = result.executionMetadata
  if (metadata === null) return undefined
  const origin = seesOrigins ? originOf(result) : undefined
  const { process, processRequest = 0 } = processOf(result)
  return {
    worker: textData(metadata.worker),
    writtenBy: textData(origin?.identity),
    ...(process !== undefined && { persistentWorker: { process, request: processRequest } }),
    steps: stepsOf(metadata).map(({ name, fromMs, toMs: untilMs }) => ({
      ...{ name, startedAt: timeData(fromMs) },
      tookMs: msData(untilMs - fromMs),
    })),
  }
}

const ms = (time: ProtoTime | null): number => (time === null ? 0 : toMs(time))

interface Step {
  readonly name: string
  readonly fromMs: number
  readonly toMs: number
}

const stepsOf = (metadata: ExecutedActionMetadata): readonly Step[] => {
  const steps: (readonly [string, ProtoTime | null, ProtoTime | null])[] = [
    ['Queued', metadata.queuedTimestamp, metadata.workerStartTimestamp],
    ['Inputs fetched', metadata.inputFetchStartTimestamp, metadata.inputFetchCompletedTimestamp],
    ['Executed', metadata.executionStartTimestamp, metadata.executionCompletedTimestamp],
    ['Outputs uploaded', metadata.outputUploadStartTimestamp, metadata.outputUploadCompletedTimestamp],
  ]
  return steps.flatMap(([name, from, to]) =>
    from === null || to === null || ms(to) < ms(from) ? [] : [{ name, fromMs: ms(from), toMs: ms(to) }],
  )
}

const WIDTH = 1000
const ROW = 26
const LABEL = 240

/** The steps on one axis of time. The same as text is in each label. */
const Steps = ({ of: metadata }: { readonly of: ExecutedActionMetadata }) => {
  const steps = stepsOf(metadata)
  if (steps.length === 0) return null
  const begin = Math.min(...steps.map(({ fromMs }) => fromMs))
  const end = Math.max(...steps.map((step) => step.toMs))
  const scale = (WIDTH - LABEL) / Math.max(end - begin, 1)
  return (
    <svg
      viewBox={`0 0 ${WIDTH} ${steps.length * ROW}`}
      role="img"
      aria-label={`Steps: ${steps.map(stepText).join('; ')}`}
    >
      {steps.map((step, row) => (
        <g transform={`translate(0 ${row * ROW})`}>
          <text x="0" y={ROW - 9}>
            {stepText(step)}
          </text>
          <rect
            x={LABEL + (step.fromMs - begin) * scale}
            y="4"
            width={Math.max(2, (step.toMs - step.fromMs) * scale)}
            height={ROW - 8}
            rx="3"
            fill="var(--ink)"
          />
        </g>
      ))}
    </svg>
  )
}

const stepText = ({ name, fromMs, toMs: untilMs }: Step): string => `${name}: ${durationText(untilMs - fromMs)}`
