import { ExecutionStage } from '../../../src/proto/generated/build.bazel.remote.execution.v2.js'
import { type Digest, digestOf, EMPTY_DIGEST, type Exam } from '../../exam/exam.js'
import {
  execute,
  executeRequest,
  executionOf,
  expectAnyFailure,
  expectFailure,
  failureOf,
  onWorkers,
  type PreparedAction,
  prepareAction,
  resultOf,
  run,
  stageOf,
  uploadAction,
} from '../../material/action.js'
import { rawDirectory } from '../../material/input-tree.js'
import { codec } from '../../proto/codec.js'
import { Code, codeName } from '../../proto/status-code.js'
import { toMs } from '../../proto/time.js'
import type { Check } from '../../requirements/check.js'
import * as methods from '../../wire/methods.js'

const actionCodec = codec('build.bazel.remote.execution.v2.Action')
const FAILED_PRECONDITION = 9
const INVALID_ARGUMENT = 3

/** Uploads an action whose input root or command is replaced. */
const altered = async (exam: Exam, change: { root?: Buffer; command?: Buffer }): Promise<Digest> => {
  const prepared: PreparedAction = await uploadAction(exam, {})
  const { root, command } = change
  const action = actionCodec.encode({
    commandDigest: command === undefined ? prepared.commandDigest : digestOf(command),
    inputRootDigest: root === undefined ? prepared.rootDigest : digestOf(root),
    platform: exam.candidate.properties.length === 0 ? null : { properties: exam.candidate.properties },
  })
  await exam.upload(...[root, command, action].filter((blob) => blob !== undefined))
  return digestOf(action)
}

const GARBAGE = Buffer.alloc(24, 0xff)

const malformedChecks: readonly Check[] = [
  {
    id: 'EXE-18',
    sends: 'An action and a command whose bytes do not parse; an error.',
    run: async (exam) => {
      const garbage = Buffer.concat([GARBAGE, exam.random(10)])
      const [action = EMPTY_DIGEST] = await exam.upload(garbage)
      const failures = [
        expectAnyFailure(exam, await execute(exam, action)),
        expectAnyFailure(exam, await execute(exam, await altered(exam, { command: garbage }))),
      ]
      exam.chose(`refuses what does not parse with ${failures.map(({ code }) => codeName(code)).join(' and ')}`)
    },
  },
  {
    id: 'EXE-19',
    sends: 'An action digest of 63 digits, and none; the call ends with INVALID_ARGUMENT.',
    run: async (exam) => {
      const { instanceName } = exam
      const bad = { hash: 'a'.repeat(63), sizeBytes: 3 }
      exam.expectCode(await exam.call(methods.execute, { instanceName, actionDigest: bad }), 'INVALID_ARGUMENT')
      exam.expectCode(await exam.call(methods.execute, { instanceName }), 'INVALID_ARGUMENT')
    },
  },
  {
    id: 'EXE-20',
    sends: 'A command with unsorted and repeated variables; INVALID_ARGUMENT, or run.',
    run: async (exam) => {
      const environmentVariables = [
        { name: 'Z', value: exam.uuid() },
        { name: 'A', value: '1' },
      ]
      const { actionDigest } = await uploadAction(exam, { script: 'true', command: { environmentVariables } })
      const { code } = expectFailure(exam, await execute(exam, actionDigest), 0, INVALID_ARGUMENT)
      exam.chose(code === 0 ? 'runs commands that are not canonical' : 'refuses commands that are not canonical')
    },
  },
  {
    id: 'EXE-21',
    sends: 'Input roots with entries named "", ".", "..", "a/b" and with a NUL; INVALID_ARGUMENT each.',
    run: async (exam) => {
      const roots = ['', '.', '..', 'a/b', 'a\0b'].map((name) =>
        rawDirectory({ files: [{ name, digest: EMPTY_DIGEST }], symlinks: [{ name: 'z', target: exam.uuid() }] }),
      )
      const actions = await Promise.all(roots.map((root) => altered(exam, { root })))
      const executions = await Promise.all(actions.map((actionDigest) => execute(exam, actionDigest)))
      for (const execution of executions) expectFailure(exam, execution, INVALID_ARGUMENT)
    },
  },
  {
    id: 'EXE-22',
    sends: 'An input root with two entries of one name; INVALID_ARGUMENT.',
    run: async (exam) => {
      const name = `n${exam.uuid()}`
      const root = rawDirectory({ files: [{ name, digest: EMPTY_DIGEST }], symlinks: [{ name, target: 'x' }] })
      expectFailure(exam, await execute(exam, await altered(exam, { root })), INVALID_ARGUMENT)
    },
  },
]

const timeoutChecks: readonly Check[] = [
  {
    id: 'EXE-26',
    sends: 'Commands of 30 s with timeouts of 1 s and half a second; DEADLINE_EXCEEDED in the response, soon after.',
    run: async (exam) => {
      for (const timeoutMs of [1_000, 500]) {
        const { actionDigest } = await uploadAction(exam, { script: 'sleep 30; echo done', timeoutMs })
        const execution = await execute(exam, actionDigest)
        exam.expectCode(execution.outcome, 'OK')
        const { code, message } = failureOf(execution)
        exam.expect(
          code === 4,
          `DEADLINE_EXCEEDED in the response, after ${timeoutMs} ms`,
          `${codeName(code)} ${message}`,
        )
      }
    },
  },
  {
    id: 'EXE-27',
    sends: 'A command that times out; the text of the status, which some clients compare.',
    run: async (exam) => {
      const { actionDigest } = await uploadAction(exam, { script: 'sleep 30', timeoutMs: 1_000 })
      const { code, message } = failureOf(await execute(exam, actionDigest))
      if (code !== 4) exam.notApplicable('the action does not time out; see EXE-26')
      exam.observed('message of a timeout', message)
      const isKnown = message === 'execution timeout exceeded' || message.includes('Execution timed out')
      exam.expect(isKnown, 'the text that Siso or the one that Buck2 looks for', JSON.stringify(message))
    },
  },
  {
    id: 'EXE-28',
    sends: 'A timeout of ten years; refused by a server that has a maximum.',
    run: async (exam) => {
      const timeoutMs = 10 * 365 * 24 * 3_600_000
      const { actionDigest } = await uploadAction(exam, { script: 'true', timeoutMs })
      const execution = await execute(exam, actionDigest)
      if (failureOf(execution).code === 0) return exam.notApplicable('the server has no maximum below ten years')
      const { code } = expectAnyFailure(exam, execution)
      exam.expect(code !== Code.DEADLINE_EXCEEDED, 'a refusal', 'a timeout that has passed at once')
      exam.chose(`answers ${codeName(code)} to a timeout above its maximum`)
    },
  },
  {
    id: 'EXE-30',
    sends: '24 actions of 0.6 s at once with a timeout of 2 s each; none times out, however long it queued.',
    run: async (exam) => {
      const { actionDigest } = await uploadAction(exam, { script: 'sleep 0.6', timeoutMs: 2_000, doNotCache: true })
      const executions = await Promise.all(Array.from({ length: 24 }, () => execute(exam, actionDigest)))
      const waitedMs = executions.map((execution) => {
        const result = resultOf(exam, execution)
        exam.expectEqual(result.exitCode, 0, 'exit_code')
        const { queuedTimestamp, executionCompletedTimestamp } = result.executionMetadata ?? {}
        if (!queuedTimestamp || !executionCompletedTimestamp) return 0
        return toMs(executionCompletedTimestamp) - toMs(queuedTimestamp)
      })
      const longest = Math.round(Math.max(...waitedMs))
      exam.chose(`ended the last of 24 ${longest > 2_000 ? 'later' : 'earlier'} than its timeout after it was queued`)
    },
  },
]

const PATIENCE_MS = 3_000
/** The time in which a server runs an action that it accepts. */
const RUN_MS = 15_000

/** Executes with a short wait: a queued action is an answer too. */
const attempt = async (exam: Exam, plan: Parameters<typeof uploadAction>[1], deadlineMs = PATIENCE_MS) => {
  const { actionDigest } = await uploadAction(exam, plan)
  const request = executeRequest(exam, actionDigest)
  const execution = executionOf(await exam.call(methods.execute, request, { deadlineMs }))
  if (execution.name !== '' && execution.outcome.code === 4) {
    await exam.call(methods.cancelOperation, { name: execution.name })
  }
  return execution
}

const matchingChecks: readonly Check[] = [
  {
    id: 'EXE-31',
    // Among other actions, one that queues behind them looks like one that no worker may run.
    isAlone: true,
    sends: 'An action with an unknown platform property; rejected, or run if the server accepts every name.',
    run: async (exam) => {
      const property = { name: `conformance-${exam.uuid()}`, value: 'bar' }
      const actionProperties = [...exam.candidate.properties, property]
      const plan = { actionProperties, commandProperties: actionProperties }
      const execution = await attempt(exam, plan, RUN_MS)
      if (execution.response?.result != null) return exam.chose('takes any property')
      const { code } = expectFailure(exam, execution, INVALID_ARGUMENT, FAILED_PRECONDITION)
      exam.chose(`answers ${codeName(code)} to an unknown property`)
    },
  },
  {
    id: 'EXE-32',
    sends: 'An action whose value for a known property no worker has; refused, or it stays QUEUED.',
    run: async (exam) => {
      const [property] = exam.candidate.properties
      const { name } = property ?? exam.notApplicable('needs --property')
      const actionProperties = exam.candidate.properties.map((each) =>
        each.name === name ? { name, value: `none-${exam.uuid()}` } : each,
      )
      const execution = await attempt(exam, { actionProperties, commandProperties: actionProperties })
      // The user declared with --property that this property selects workers.
      const ran = execution.response?.result != null
      exam.expect(!ran, `no worker to take another value of ${name} than its own`, 'a run')
      if (execution.outcome.code === 4) {
        const stage = execution.last === undefined ? -1 : stageOf(execution.last)
        exam.expectEqual(stage, ExecutionStage.QUEUED, 'the stage of an action that no worker can take')
        return exam.chose('keeps actions that no worker can take in the queue')
      }
      const { code } = expectAnyFailure(exam, execution)
      exam.chose(`answers ${codeName(code)} when no worker can match`)
    },
  },
  {
    id: 'EXE-33',
    sends: '60 actions at once; those refused are UNAVAILABLE or RESOURCE_EXHAUSTED, the others run.',
    run: async (exam) => {
      const plan = { arguments: ['/bin/true'], doNotCache: true }
      const { actionDigest } = await uploadAction(exam, plan)
      const executions = await Promise.all(Array.from({ length: 60 }, () => execute(exam, actionDigest)))
      const refused = executions.filter((execution) => failureOf(execution).code !== 0)
      for (const execution of refused) expectFailure(exam, execution, 14, 8)
      for (const execution of executions) if (!refused.includes(execution)) resultOf(exam, execution)
      exam.chose(refused.length === 0 ? 'takes 60 actions at once' : `refuses ${refused.length} of 60 at once`)
    },
  },
  {
    id: 'EXE-38',
    sends: 'A complete action, executed on an instance without execution; refused.',
    needs: ['cache-only-instance'],
    run: async (exam) => {
      const instanceName = exam.candidate.cacheOnlyInstanceName ?? ''
      const { actionDigest, blobs } = prepareAction(exam, { script: 'true' })
      const requests = blobs.map((data) => ({ digest: digestOf(data), data }))
      // Nothing is missing, so the rejection concerns execution.
      exam.expectCode(await exam.call(methods.batchUpdateBlobs, { instanceName, requests }), 'OK')
      const request = { instanceName, actionDigest, skipCacheLookup: true }
      const outcome = await exam.call(methods.execute, request, { deadlineMs: 20_000 })
      const { code, message } = failureOf(executionOf(outcome))
      exam.expect(code !== Code.OK && code !== Code.DEADLINE_EXCEEDED, 'a refusal', `${codeName(code)} ${message}`)
      exam.chose(`answers ${codeName(code)} without execution`)
    },
  },
  {
    id: 'INS-07',
    sends: 'One action in two instances; the operations have different names, and each waits for its own result.',
    needs: ['second-instance'],
    run: async (exam) => {
      const { prepared, execution, result } = await run(exam, { script: 'od -An -N16 -tx1 /dev/urandom' })
      const instanceName = exam.candidate.secondInstanceName ?? ''
      const requests = prepared.blobs.map((data) => ({ digest: digestOf(data), data }))
      exam.expectCode(await exam.call(methods.batchUpdateBlobs, { instanceName, requests }), 'OK')
      const request = executeRequest(exam, prepared.actionDigest, { instanceName })
      const other = executionOf(await exam.call(methods.execute, request, { deadlineMs: 25_000 }))
      if (failureOf(other).code !== 0) exam.notApplicable('the second instance does not execute')
      exam.expect(other.name !== execution.name, 'different names', execution.name)
      const waited = executionOf(await exam.call(methods.waitExecution, { name: execution.name }))
      exam.expectEqual(resultOf(exam, waited).stdoutDigest?.hash, result.stdoutDigest?.hash, 'the hash of stdout')
      const own = resultOf(exam, other).stdoutDigest?.hash
      const waitedThere = executionOf(await exam.call(methods.waitExecution, { name: other.name }))
      exam.expectEqual(resultOf(exam, waitedThere).stdoutDigest?.hash, own, 'the hash of stdout in the second instance')
    },
  },
]

export const executeRefusalChecks: readonly Check[] = onWorkers([
  ...malformedChecks,
  ...timeoutChecks,
  ...matchingChecks,
])
