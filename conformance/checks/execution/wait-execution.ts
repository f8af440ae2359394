import type { Digest, Exam } from '../../exam/exam.js'
import {
  type Execution,
  executionOf,
  type Operation,
  onWorkers,
  outputText,
  resultOf,
  run,
  start,
} from '../../material/action.js'
import { everyKind, expectTold, listed } from '../../material/operation.js'
import { codec } from '../../proto/codec.js'
import type { Check } from '../../requirements/check.js'
import * as methods from '../../wire/methods.js'

const metadataCodec = codec('build.bazel.remote.execution.v2.ExecuteOperationMetadata')

const wait = async (exam: Exam, name: string) =>
  executionOf(await exam.call(methods.waitExecution, { name }, { deadlineMs: 25_000 }))

/** Every operation that WaitExecution returns must have the requested name. */
const expectName = (exam: Exam, { outcome }: Execution, name: string): void =>
  exam.expectEqual(
    [...new Set(outcome.responses.map((operation) => operation.name))],
    [name],
    'the names of the Operations',
  )

/** The end of an operation is the same through every method: done, metadata, and response with its times. */
const expectSame = (exam: Exam, waited: Execution, execution: Execution): void =>
  expectTold(exam, waited.last, execution.last, 'the last Operation')

/** Every waiter gets the action digest. */
const expectAction = (exam: Exam, { outcome }: Execution, digest: Digest): void => {
  for (const { metadata } of outcome.responses) {
    if (metadata === null) continue
    const { actionDigest } = metadataCodec.decode(metadata.value)
    exam.expectDigest(actionDigest, digest, 'the action digest in metadata')
  }
}

/** The fields of an Operation of a running action, without details in types of the server's own. */
const partialOf = ({ metadata }: Operation): [string, unknown][] => {
  const partial = metadata && metadataCodec.decode(metadata.value).partialExecutionMetadata
  return Object.entries(partial ?? {}).filter(
    ([name, value]) => name !== 'auxiliaryMetadata' && value !== null && value !== '',
  )
}

const ongoingChecks: readonly Check[] = [
  {
    id: 'EXE-54',
    sends: 'An action of 3 s, watched by every method; details of the running action equal those of its result.',
    run: async (exam) => {
      const { name, stream } = await start(exam, { script: 'sleep 3' })
      const waits = [1, 2].map(() => exam.call(methods.waitExecution, { name }, { deadlineMs: 25_000 }))
      const asked: Operation[] = []
      for (const _ of [1, 2]) {
        asked.push(...(await exam.call(methods.getOperation, { name })).responses)
        asked.push(...(await listed(exam)).filter((operation) => operation.name === name))
      }
      const execution = executionOf(await stream.outcome)
      const watched = (await Promise.all(waits)).flatMap(({ responses }) => responses)
      const final = resultOf(exam, execution).executionMetadata
      const told = [...execution.outcome.responses, ...watched, ...asked].flatMap(partialOf)
      if (told.length === 0 || final === null) exam.notApplicable('the server reports no details of a running action')
      const result: Readonly<Record<string, unknown>> = { ...final }
      for (const [field, value] of told) exam.expectEqual(value, result[field], `${field}, told while the action ran,`)
      exam.chose(`tells ${[...new Set(told.map(([field]) => field))].join(', ')} of a run that goes on`)
    },
  },
]

const waitChecks: readonly Check[] = [
  {
    id: 'WAI-01',
    sends: 'WaitExecution on an action of 2 s; the state at once, then updates, the last one done, under one name.',
    run: async (exam) => {
      const { name, stream, prepared } = await start(exam, await everyKind(exam, 'sleep 2;'))
      const waiting = exam.open(methods.waitExecution, { deadlineMs: 25_000 })
      const startMs = performance.now()
      await waiting.send({ name })
      waiting.halfClose()
      const first = exam.present(await waiting.next(), 'a first Operation')
      const elapsedMs = performance.now() - startMs
      exam.expectInTime(
        !first.done,
        'the state of a running operation at once',
        `one after ${Math.round(elapsedMs)} ms`,
      )
      const waited = executionOf(await waiting.outcome)
      expectName(exam, waited, name)
      expectAction(exam, waited, prepared.actionDigest)
      exam.expectEqual(await outputText(exam, resultOf(exam, waited), 'stdout'), 'kept\n', 'stdout')
      expectSame(exam, waited, executionOf(await stream.outcome))
    },
  },
  {
    id: 'WAI-02',
    sends: 'WaitExecution on names that no operation has; NOT_FOUND, or INVALID_ARGUMENT.',
    run: async (exam) => {
      for (const name of ['nope', exam.uuid()]) {
        exam.expectCode(await exam.call(methods.waitExecution, { name }), 'NOT_FOUND', 'INVALID_ARGUMENT')
      }
    },
  },
  {
    id: 'WAI-03',
    sends: 'WaitExecution on an operation that ended; its result.',
    run: async (exam) => {
      const { execution } = await run(exam, await everyKind(exam))
      const waited = await wait(exam, execution.name)
      exam.observed('finished operations stay', waited.outcome.code === 0)
      if (waited.outcome.code === 0) expectSame(exam, waited, execution)
      exam.expectEqual(await outputText(exam, resultOf(exam, waited), 'stdout'), 'kept\n', 'stdout')
    },
  },
  {
    id: 'WAI-04',
    sends: 'Five WaitExecutions on one running action; each gets its result.',
    run: async (exam) => {
      const { name, stream, prepared } = await start(exam, await everyKind(exam, 'sleep 1;'))
      const waits = await Promise.all(Array.from({ length: 5 }, () => wait(exam, name)))
      for (const waited of waits) {
        expectName(exam, waited, name)
        expectAction(exam, waited, prepared.actionDigest)
        expectSame(exam, waited, executionOf(await stream.outcome))
        exam.expectEqual(await outputText(exam, resultOf(exam, waited), 'stdout'), 'kept\n', 'stdout')
      }
    },
  },
  {
    id: 'WAI-06',
    sends: 'WaitExecution with an empty name; NOT_FOUND or INVALID_ARGUMENT.',
    run: async (exam) => {
      exam.expectCode(await exam.call(methods.waitExecution, { name: '' }), 'NOT_FOUND', 'INVALID_ARGUMENT')
    },
  },
]

export const waitExecutionChecks: readonly Check[] = onWorkers([...ongoingChecks, ...waitChecks])
