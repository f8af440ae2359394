import { ExecutionStage } from '../../../src/proto/generated/build.bazel.remote.execution.v2.js'
import type { Exam } from '../../exam/exam.js'
import {
  type Execution,
  executionOf,
  failureOf,
  nextOperation,
  onWorkers,
  outputText,
  resultOf,
  run,
  stageOf,
  start,
} from '../../material/action.js'
import type { Check } from '../../requirements/check.js'
import * as methods from '../../wire/methods.js'

const wait = async (exam: Exam, name: string) =>
  executionOf(await exam.call(methods.waitExecution, { name }, { deadlineMs: 25_000 }))

/** Whoever waits by this name is told of the operation under it. */
const expectName = (exam: Exam, { outcome }: Execution, name: string): void =>
  exam.expectEqual(
    [...new Set(outcome.responses.map((operation) => operation.name))],
    [name],
    'the names of the Operations',
  )

/** The end of an operation is one fact, whoever tells it: done, its metadata, and what it came to, with its times. */
const expectSame = (exam: Exam, told: Execution, execution: Execution): void => {
  const of = ({ last, response }: Execution): object => ({
    done: last?.done,
    stage: last === undefined ? -1 : stageOf(last),
    metadata: last?.metadata?.typeUrl,
    result: response?.result ?? null,
  })
  exam.expectEqual(of(told), of(execution), 'the last Operation')
}

const waitChecks: readonly Check[] = [
  {
    id: 'WAI-01',
    sends: 'WaitExecution on an action of 2 s; the state at once, then updates, the last one done, under one name.',
    run: async (exam) => {
      const { name } = await start(exam, { script: 'sleep 2; echo waited' })
      const waiting = exam.open(methods.waitExecution, { deadlineMs: 25_000 })
      const startMs = performance.now()
      await waiting.send({ name })
      waiting.halfClose()
      const first = exam.present(await waiting.next(), 'a first Operation')
      const elapsedMs = performance.now() - startMs
      exam.expect(!first.done, 'the state of a running operation at once', `one after ${Math.round(elapsedMs)} ms`)
      const waited = executionOf(await waiting.outcome)
      expectName(exam, waited, name)
      exam.expectEqual(await outputText(exam, resultOf(exam, waited), 'stdout'), 'waited\n', 'stdout')
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
      const { execution } = await run(exam, { script: 'echo kept' })
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
      const { name } = await start(exam, { script: 'sleep 1; echo all' })
      const waits = await Promise.all(Array.from({ length: 5 }, () => wait(exam, name)))
      for (const waited of waits) {
        expectName(exam, waited, name)
        exam.expectEqual(await outputText(exam, resultOf(exam, waited), 'stdout'), 'all\n', 'stdout')
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

const operationChecks: readonly Check[] = [
  {
    id: 'OPS-01',
    sends: 'GetOperation of one that ended, and of one that does not exist; the Operation, and NOT_FOUND.',
    run: async (exam) => {
      const { execution } = await run(exam, { script: 'true' })
      const outcome = await exam.call(methods.getOperation, { name: execution.name })
      const code = exam.expectCode(outcome, 'OK', 'NOT_FOUND', 'UNIMPLEMENTED')
      exam.chose(`answers ${code} to GetOperation`)
      if (code !== 'OK') return
      exam.expectEqual(outcome.responses[0]?.name, execution.name, 'the name')
      exam.expectEqual(outcome.responses[0]?.done, true, 'done')
      exam.expectCode(await exam.call(methods.getOperation, { name: exam.uuid() }), 'NOT_FOUND')
    },
  },
  {
    id: 'OPS-02',
    sends: 'CancelOperation on an action of 20 s; the stream ends with CANCELLED in the response.',
    run: async (exam) => {
      const { stream, name } = await start(exam, { script: 'sleep 20', doNotCache: true, timeoutMs: 25_000 })
      await Promise.race([
        nextOperation(stream, (operation) => stageOf(operation) === ExecutionStage.EXECUTING),
        new Promise((resolve) => setTimeout(resolve, 2_000)),
      ])
      const cancelled = await exam.call(methods.cancelOperation, { name })
      const code = exam.expectCode(cancelled, 'OK', 'NOT_FOUND', 'UNIMPLEMENTED')
      exam.observed('cancels', code === 'OK')
      exam.chose(`answers ${code} to CancelOperation`)
      if (code !== 'OK') return
      const failure = failureOf(executionOf(await stream.outcome))
      exam.expect(failure.code === 1, 'CANCELLED in the response', `code ${failure.code} ${failure.message}`)
    },
  },
  {
    id: 'OPS-03',
    sends: 'DeleteOperation of one that ended, then WaitExecution; NOT_FOUND where deletion is implemented.',
    run: async (exam) => {
      const { execution } = await run(exam, { script: 'true' })
      const outcome = await exam.call(methods.deleteOperation, { name: execution.name })
      exam.chose(`answers ${exam.expectCode(outcome, 'OK', 'UNIMPLEMENTED', 'NOT_FOUND')} to DeleteOperation`)
      if (outcome.code !== 0) return
      exam.expectCode(await exam.call(methods.waitExecution, { name: execution.name }), 'NOT_FOUND')
    },
  },
  {
    id: 'OPS-04',
    sends: 'ListOperations by pages of one, and WaitOperation; whether they are there, and page.',
    run: async (exam) => {
      const { execution } = await run(exam, { script: 'true' })
      const request = { name: exam.instanceName === '' ? '' : exam.instanceName, pageSize: 1 }
      const outcome = await exam.call(methods.listOperations, request)
      exam.chose(outcome.code === 0 ? 'lists operations' : `answers code ${outcome.code} to ListOperations`)
      if (outcome.code === 0) {
        const count = outcome.responses[0]?.operations.length ?? 0
        exam.expect(count <= 1, 'at most one operation on a page of one', String(count))
      }
      const waited = await exam.call(methods.waitOperation, { name: execution.name })
      exam.chose(waited.code === 0 ? 'implements WaitOperation' : `answers code ${waited.code} to WaitOperation`)
    },
  },
]

export const waitExecutionChecks: readonly Check[] = onWorkers(waitChecks)
export const operationsChecks: readonly Check[] = onWorkers(operationChecks)
