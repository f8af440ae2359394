import { DigestFunction, ExecutionStage } from '../../../src/proto/generated/build.bazel.remote.execution.v2.js'
import {
  codeAtPriority,
  execute,
  executeRequest,
  executionOf,
  failureOf,
  onWorkers,
  outputText,
  prepareAction,
  RANDOM_LINE,
  responseOf,
  resultOf,
  run,
  stageOf,
  start,
  uploadAction,
} from '../../material/action.js'
import { get } from '../../material/action-cache.js'
import { codec } from '../../proto/codec.js'
import type { Check } from '../../requirements/check.js'
import * as methods from '../../wire/methods.js'

const metadataCodec = codec('build.bazel.remote.execution.v2.ExecuteOperationMetadata')
const PREFIX = 'type.googleapis.com/build.bazel.remote.execution.v2.'

const streamChecks: readonly Check[] = [
  {
    id: 'EXE-01',
    sends: 'An action of 4 s; the first Operation comes before it can have ended, with a name and not done.',
    waitsFor: 'an action of 4 s',
    run: async (exam) => {
      const prepared = await uploadAction(exam, { script: 'sleep 4' })
      const startMs = performance.now()
      const stream = exam.open(methods.execute, { deadlineMs: 25_000 })
      await stream.send(executeRequest(exam, prepared.actionDigest))
      stream.halfClose()
      const first = exam.present(await stream.next(), 'a first Operation')
      const elapsedMs = performance.now() - startMs
      exam.expectInTime(elapsedMs < 4_000, 'a first Operation at once', `one after ${Math.round(elapsedMs)} ms`)
      exam.expect(first.name !== '' && !first.done, 'a name, not done', JSON.stringify(first.name))
      exam.expectCode(await stream.outcome, 'OK')
    },
  },
  {
    id: 'EXE-02',
    sends: 'An action; each Operation has the one name, and the last is done and holds an ExecuteResponse.',
    run: async (exam) => {
      const { execution } = await run(exam, { script: 'true' })
      exam.expectEqual(execution.last?.response?.typeUrl, `${PREFIX}ExecuteResponse`, 'the type of the response')
      const done = execution.outcome.responses.filter((operation) => operation.done)
      exam.expectEqual(done.length, 1, 'the number of Operations that are done')
      const names = [...new Set(execution.outcome.responses.map(({ name }) => name))]
      exam.expect(names.length === 1 && names[0] !== '', 'one name on all Operations', JSON.stringify(names))
    },
  },
  {
    id: 'EXE-03',
    sends: 'Actions that exit with 1, time out, and lack their Command; Operation.error is never set.',
    run: async (exam) => {
      const failing = [{ script: 'exit 1' }, { script: 'sleep 20', timeoutMs: 500 }]
      const digests = []
      for (const plan of failing) digests.push((await uploadAction(exam, plan)).actionDigest)
      const bare = prepareAction(exam, {})
      await exam.upload(...bare.blobs.slice(-1))
      const all = [...digests, bare.actionDigest].map((actionDigest) => execute(exam, actionDigest))
      for (const { outcome } of await Promise.all(all)) {
        const error = outcome.responses.find((operation) => operation.error !== null)?.error
        exam.expect(error === undefined, 'Operation.error to be unset', JSON.stringify(error))
      }
    },
  },
  {
    id: 'EXE-04',
    sends: 'An action; each Operation carries ExecuteOperationMetadata with a stage and the action digest.',
    run: async (exam) => {
      const { execution, prepared } = await run(exam, { script: 'true' })
      for (const { metadata } of execution.outcome.responses) {
        const any = exam.present(metadata, 'metadata on every Operation')
        exam.expectEqual(any.typeUrl, `${PREFIX}ExecuteOperationMetadata`, 'the type of metadata')
        const { actionDigest, digestFunction } = metadataCodec.decode(any.value)
        exam.expectDigest(actionDigest, prepared.actionDigest, 'the action digest in metadata')
        const isSaid = digestFunction !== DigestFunction.UNKNOWN
        if (isSaid) exam.expectEqual(digestFunction, DigestFunction.SHA256, 'the digest function in metadata')
      }
    },
  },
  {
    id: 'EXE-05',
    sends: 'An action; the stage is COMPLETED exactly when done, and never UNKNOWN.',
    run: async (exam) => {
      const { execution } = await run(exam, { script: 'sleep 0.2' })
      const stages = execution.outcome.responses.map((operation) => [stageOf(operation), operation.done] as const)
      if (stages.every(([stage]) => stage < 0)) exam.notApplicable('no Operation has metadata; see EXE-04')
      for (const [stage, done] of stages) {
        exam.expectEqual(stage === ExecutionStage.COMPLETED, done, `whether an Operation of stage ${stage} is done`)
        exam.expect(stage !== ExecutionStage.UNKNOWN, 'a known stage', 'UNKNOWN')
      }
      exam.chose(`stages ${stages.map(([stage]) => stage).join(', ')}`)
    },
  },
  {
    id: 'EXE-35',
    sends:
      'An action without output for 6 s, cancelled after 3 s, then WaitExecution; open until then, then the result.',
    waitsFor: 'an action of 6 s',
    run: async (exam) => {
      const { stream, name } = await start(exam, { script: 'sleep 6; echo survived' })
      await new Promise((resolve) => setTimeout(resolve, 3_000))
      exam.expect(!stream.hasEnded, 'the stream to stay open', 'its end')
      stream.cancel()
      await stream.outcome
      const waited = executionOf(await exam.call(methods.waitExecution, { name }, { deadlineMs: 25_000 }))
      exam.expectEqual(await outputText(exam, resultOf(exam, waited), 'stdout'), 'survived\n', 'stdout')
    },
  },
  {
    id: 'EXE-36',
    sends: 'One action from ten clients at once; each gets a complete stream.',
    run: async (exam) => {
      const { actionDigest } = await uploadAction(exam, { script: `sleep 0.5; ${RANDOM_LINE}` })
      const executions = await Promise.all(Array.from({ length: 10 }, () => execute(exam, actionDigest)))
      const outputs = new Set<string>()
      for (const execution of executions) outputs.add(await outputText(exam, resultOf(exam, execution), 'stdout'))
      exam.chose(`runs it ${outputs.size} times for ten callers`)
    },
  },
  {
    id: 'EXE-37',
    sends: 'Actions of priority -1, 0 and 1; accepted or refused as announced.',
    run: async (exam) => {
      const codes: number[] = []
      for (const priority of [-1, 0, 1]) codes.push(await codeAtPriority(exam, priority))
      exam.expectEqual(codes[1], 0, 'the code for priority 0')
      exam.chose(codes.every((code) => code === 0) ? 'takes priorities -1, 0 and 1' : `answers ${codes.join(', ')}`)
    },
  },
]

const cacheChecks: readonly Check[] = [
  {
    id: 'EXE-06',
    sends: 'One action twice; the second answer is a cache hit with the first output, complete in the CAS.',
    run: async (exam) => {
      const { prepared, result } = await run(exam, { script: RANDOM_LINE })
      const again = responseOf(exam, await execute(exam, prepared.actionDigest))
      const second = resultOf(exam, await execute(exam, prepared.actionDigest))
      const first = await outputText(exam, result, 'stdout')
      const same = (await outputText(exam, second, 'stdout')) === first
      if (!again.cachedResult && !same) exam.notApplicable('the server does not cache executed actions')
      exam.expectEqual(again.cachedResult, true, 'cached_result')
      exam.expect(same, 'the output of the first run', 'another')
    },
  },
  {
    id: 'EXE-07',
    sends: 'An action with a cached result, with skip_cache_lookup; it runs again.',
    run: async (exam) => {
      const { prepared, result } = await run(exam, { script: RANDOM_LINE })
      const execution = await execute(exam, prepared.actionDigest, { skipCacheLookup: true })
      exam.expectEqual(responseOf(exam, execution).cachedResult, false, 'cached_result')
      const [old, fresh] = [
        await outputText(exam, result, 'stdout'),
        await outputText(exam, resultOf(exam, execution), 'stdout'),
      ]
      exam.expect(old !== fresh, 'the output of a new run', 'that of the old one')
    },
  },
  {
    id: 'EXE-51',
    sends: 'An action with a cached result, with skip_cache_lookup, then GetActionResult; the new result.',
    run: async (exam) => {
      const { prepared } = await run(exam, { script: RANDOM_LINE })
      const execution = await execute(exam, prepared.actionDigest, { skipCacheLookup: true })
      const fresh = await outputText(exam, resultOf(exam, execution), 'stdout')
      const after = await get(exam, prepared.actionDigest)
      const [kept] = after.responses
      if (after.code !== 0 || kept === undefined) return exam.chose('does not cache executed actions')
      exam.expectEqual(await outputText(exam, kept, 'stdout'), fresh, 'stdout in the action cache')
    },
  },
  {
    id: 'EXE-08',
    sends: 'A do_not_cache action twice at once and again; three runs, and nothing in the action cache.',
    run: async (exam) => {
      const { actionDigest } = await uploadAction(exam, { script: `sleep 0.3; ${RANDOM_LINE}`, doNotCache: true })
      const both = await Promise.all([execute(exam, actionDigest), execute(exam, actionDigest)])
      const outputs = new Set<string>()
      for (const execution of [...both, await execute(exam, actionDigest)]) {
        exam.expectEqual(responseOf(exam, execution).cachedResult, false, 'cached_result')
        outputs.add(await outputText(exam, resultOf(exam, execution), 'stdout'))
      }
      exam.expectEqual(outputs.size, 3, 'the number of different outputs of three runs')
      const { code } = await get(exam, actionDigest)
      exam.expect(code === 5 || code === 12, 'NOT_FOUND in the action cache', `code ${code}`)
    },
  },
  {
    id: 'EXE-09',
    sends: 'A successful action and, at its end, GetActionResult; the result is there.',
    needs: ['action-cache'],
    run: async (exam) => {
      const { prepared } = await run(exam, { script: 'echo cached' })
      exam.expectCode(await get(exam, prepared.actionDigest), 'OK')
    },
  },
  {
    id: 'EXE-10',
    sends: 'An action that times out, then GetActionResult; NOT_FOUND.',
    needs: ['action-cache'],
    run: async (exam) => {
      const { actionDigest } = await uploadAction(exam, { script: 'sleep 20', timeoutMs: 1_000 })
      const failure = failureOf(await execute(exam, actionDigest))
      if (failure.code === 0) exam.notApplicable('the action does not time out; see EXE-26')
      exam.expectCode(await get(exam, actionDigest), 'NOT_FOUND')
    },
  },
]

export const executeChecks: readonly Check[] = onWorkers([...streamChecks, ...cacheChecks])
