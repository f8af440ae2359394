import { ExecutionStage } from '../../../src/proto/generated/build.bazel.remote.execution.v2.js'
import type { Exam } from '../../exam/exam.js'
import {
  type Execution,
  execute,
  executionOf,
  failureOf,
  nextOperation,
  type Operation,
  onWorkers,
  prepareAction,
  run,
  stageOf,
  start,
  uploadAction,
} from '../../material/action.js'
import { file } from '../../material/input-tree.js'
import { everyKind, everyLegacyKind, expectTold, listed } from '../../material/operation.js'
import { codec } from '../../proto/codec.js'
import { Code, codeName } from '../../proto/status-code.js'
import type { Check } from '../../requirements/check.js'
import * as methods from '../../wire/methods.js'

const metadataCodec = codec('build.bazel.remote.execution.v2.ExecuteOperationMetadata')

const MOST_COMPARED = 40

/** The other methods that the server has for this operation, and what each answers, twice. */
const tellersOf = async (exam: Exam, name: string): Promise<[string, Operation][]> => {
  const tellers: [string, Operation][] = []
  for (const method of [methods.getOperation, methods.waitOperation, methods.getOperation, methods.waitOperation]) {
    const outcome = await exam.call<methods.Any, Operation>(method, { name })
    exam.expectCode(outcome, 'OK', 'NOT_FOUND', 'UNIMPLEMENTED')
    const [operation] = outcome.responses
    if (operation !== undefined) exam.expectEqual(operation.name, name, `the name that ${method.name} tells`)
    if (operation !== undefined) tellers.push([method.name, operation])
  }
  return tellers
}

/**
 * Runs an action with every kind of output, one that fails, and one that cannot run; returns those that ended as
 * operations.
 */
const endedInEveryWay = async (exam: Exam): Promise<Execution[]> => {
  const lacking = prepareAction(exam, { inputs: { gone: file(exam.uuid()) } })
  const [gone, ...rest] = lacking.blobs.filter((blob) => blob.length === 36)
  await exam.upload(...lacking.blobs.filter((blob) => blob !== gone), ...rest)
  const failing = await uploadAction(exam, { script: 'echo no >&2; exit 3' })
  const executions = [
    (await run(exam, await everyKind(exam))).execution,
    (await run(exam, await everyLegacyKind(exam))).execution,
    await execute(exam, failing.actionDigest),
    await execute(exam, lacking.actionDigest),
  ]
  return executions.filter(({ name, last }) => name !== '' && last?.done === true)
}

/** Ended operations of the list, from any caller, must equal the answer of GetOperation. */
const expectAsAsked = async (exam: Exam, operations: readonly Operation[]): Promise<void> => {
  for (const operation of operations.filter(({ done }) => done).slice(0, MOST_COMPARED)) {
    const outcome = await exam.call(methods.getOperation, { name: operation.name })
    if (outcome.code === Code.UNIMPLEMENTED) return
    const [asked] = outcome.responses
    // Another caller may have deleted it since.
    if (asked !== undefined) expectTold(exam, operation, asked, 'what ListOperations tells')
  }
}

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
  {
    id: 'OPS-05',
    sends:
      'Actions that succeed, fail and lack an input; every other method reports the Operation that Execute reported.',
    needs: ['operations'],
    run: async (exam) => {
      const ended = new Map((await endedInEveryWay(exam)).map((execution) => [execution.name, execution]))
      const tellers: [string, Operation][] = []
      for (const name of ended.keys()) tellers.push(...(await tellersOf(exam, name)))
      if (tellers.length === 0) exam.notApplicable('the server reports no ended operation')
      for (const _ of [1, 2]) {
        const all = await listed(exam)
        const own = all.filter(({ name }) => ended.has(name))
        const listsEnded = all.some(({ done }) => done)
        if (listsEnded) exam.expectEqual(own.length, ended.size, 'how many of these operations ListOperations tells of')
        tellers.push(...own.map((operation): [string, Operation] => ['ListOperations', operation]))
        await expectAsAsked(exam, all)
      }
      for (const [teller, operation] of tellers) {
        expectTold(exam, operation, ended.get(operation.name)?.last, `what ${teller} tells`)
      }
    },
  },
  {
    id: 'OPS-06',
    sends: 'GetOperation and ListOperations while an action of 4 s runs; its name and action, and not done.',
    needs: ['operations'],
    run: async (exam) => {
      const { first, name, prepared, stream } = await start(exam, { script: 'sleep 4' })
      const { code, responses } = await exam.call(methods.getOperation, { name })
      const own = (await listed(exam)).find((operation) => operation.name === name)
      const tellers = [responses[0], own].filter((operation) => operation !== undefined)
      if (stream.hasEnded) exam.notApplicable('the action ended before the server had answered')
      if (tellers.length === 0) exam.notApplicable(`GetOperation ends with ${codeName(code)}, and nothing is listed`)
      for (const operation of tellers) {
        exam.expectEqual(operation.name, name, 'the name')
        exam.expectEqual(operation.done, false, 'done')
        // EXE-04 reports it if Execute has no metadata either.
        if (first?.metadata === null) continue
        const metadata = exam.present(operation.metadata, 'metadata')
        exam.expectDigest(metadataCodec.decode(metadata.value).actionDigest, prepared.actionDigest, 'the action digest')
      }
    },
  },
]

export const operationsChecks: readonly Check[] = onWorkers(operationChecks)
