import { codec } from '../../src/proto/codec.js'
import { ExecutionStage } from '../../src/proto/generated/build.bazel.remote.execution.v2.js'
import { toMs } from '../../src/proto/time.js'
import {
  codeAtPriority,
  execute,
  executeRequest,
  executionOf,
  failureOf,
  nextOperation,
  onWorkers,
  outputBytes,
  outputFile,
  outputText,
  prepareAction,
  RANDOM_LINE,
  readBlob,
  responseOf,
  resultOf,
  run,
  stageOf,
  start,
  uploadAction,
} from '../action.js'
import { get } from '../action-cache.js'
import type { Check } from '../check.js'
import * as methods from '../methods.js'

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
      exam.expect(elapsedMs < 4_000, 'a first Operation at once', `one after ${Math.round(elapsedMs)} ms`)
      exam.expect(first.name !== '' && !first.done, 'a name, not done', JSON.stringify(first.name))
      exam.expectCode(await stream.outcome, 'OK')
    },
  },
  {
    id: 'EXE-02',
    sends: 'An action; the last Operation is done and holds an ExecuteResponse, and the stream ends OK.',
    run: async (exam) => {
      const { execution } = await run(exam, { script: 'true' })
      exam.expectEqual(execution.last?.response?.typeUrl, `${PREFIX}ExecuteResponse`, 'the type of the response')
      const done = execution.outcome.responses.filter((operation) => operation.done)
      exam.expectEqual(done.length, 1, 'the number of Operations that are done')
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
        const { actionDigest } = metadataCodec.decode(any.value)
        exam.expectEqual(actionDigest?.hash, prepared.actionDigest.hash, 'the action digest in metadata')
      }
    },
  },
  {
    id: 'EXE-05',
    sends: 'An action; the stage is COMPLETED exactly when done, and never UNKNOWN.',
    run: async (exam) => {
      const { execution } = await run(exam, { script: 'sleep 0.2' })
      const stages = execution.outcome.responses.map((operation) => [stageOf(operation), operation.done] as const)
      for (const [stage, done] of stages) {
        exam.expectEqual(stage === ExecutionStage.COMPLETED, done, `whether an Operation of stage ${stage} is done`)
        exam.expect(stage !== ExecutionStage.UNKNOWN, 'a known stage', 'UNKNOWN')
      }
      exam.chose(`stages ${stages.map(([stage]) => stage).join(', ')}`)
    },
  },
  {
    id: 'EXE-35',
    sends: 'An action of 1 s whose stream is dropped; WaitExecution gives its result.',
    run: async (exam) => {
      const { stream, name } = await start(exam, { script: 'sleep 1; echo survived' })
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
  {
    id: 'EXE-42',
    sends: 'An action silent for 6 s, its stream cut after 3 s and waited for again; open till then, the result comes.',
    waitsFor: 'an action of 6 s',
    run: async (exam) => {
      const { stream, name } = await start(exam, { script: 'sleep 6; echo late' })
      await new Promise((resolve) => setTimeout(resolve, 3_000))
      exam.expect(!stream.hasEnded, 'the stream to stay open', 'its end')
      stream.cancel()
      const waited = executionOf(await exam.call(methods.waitExecution, { name }, { deadlineMs: 25_000 }))
      exam.expectEqual(await outputText(exam, resultOf(exam, waited), 'stdout'), 'late\n', 'stdout')
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
      if (!again.cachedResult && !same) exam.notApplicable('the server does not cache what it ran')
      exam.expectEqual(again.cachedResult, true, 'cached_result')
      exam.expect(same, 'the output of the first run', 'another')
    },
  },
  {
    id: 'EXE-07',
    sends: 'An action whose result is known, with skip_cache_lookup; run afresh, and the new result replaces the old.',
    run: async (exam) => {
      const { prepared, result } = await run(exam, { script: RANDOM_LINE })
      const execution = await execute(exam, prepared.actionDigest, { skipCacheLookup: true })
      exam.expectEqual(responseOf(exam, execution).cachedResult, false, 'cached_result')
      const [old, fresh] = [
        await outputText(exam, result, 'stdout'),
        await outputText(exam, resultOf(exam, execution), 'stdout'),
      ]
      exam.expect(old !== fresh, 'the output of a new run', 'that of the old one')
      const after = await get(exam, prepared.actionDigest)
      const [kept] = after.responses
      if (after.code !== 0 || kept === undefined) return exam.chose('does not cache what it ran')
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
      const { actionDigest } = await uploadAction(exam, { script: 'sleep 20', timeoutMs: 500 })
      const failure = failureOf(await execute(exam, actionDigest))
      exam.expect(failure.code !== 0, 'a status other than OK', 'OK')
      exam.expectCode(await get(exam, actionDigest), 'NOT_FOUND')
    },
  },
]

const resultChecks: readonly Check[] = [
  {
    id: 'EXE-23',
    sends: 'A command that writes an output and exits with 3; status OK, exit_code 3, and the output.',
    run: async (exam) => {
      const command = { outputPaths: ['log'] }
      const { actionDigest } = await uploadAction(exam, { script: 'echo failed > log; exit 3', command })
      const result = resultOf(exam, await execute(exam, actionDigest))
      exam.expectEqual(result.exitCode, 3, 'exit_code')
      exam.expectEqual((await outputFile(exam, result, 'log')).toString(), 'failed\n', 'the output')
    },
  },
  {
    id: 'EXE-24',
    sends: 'A command that kills itself with signal 9; status OK, exit_code 137.',
    run: async (exam) => {
      const { actionDigest } = await uploadAction(exam, { script: 'kill -9 $$' })
      exam.expectEqual(resultOf(exam, await execute(exam, actionDigest)).exitCode, 137, 'exit_code')
    },
  },
  {
    id: 'EXE-25',
    sends: 'A program that does not exist; exit_code 126 or 127, or INVALID_ARGUMENT or FAILED_PRECONDITION.',
    run: async (exam) => {
      const { actionDigest } = await uploadAction(exam, { arguments: ['no-such-program'] })
      const execution = await execute(exam, actionDigest)
      const { code, message } = failureOf(execution)
      if (code !== 0) {
        exam.expect(code === 3 || code === 9, 'INVALID_ARGUMENT or FAILED_PRECONDITION', `code ${code} ${message}`)
        return exam.chose(`answers code ${code} for a program that does not exist`)
      }
      const { exitCode } = resultOf(exam, execution)
      exam.expect(exitCode === 126 || exitCode === 127, 'exit_code 126 or 127', String(exitCode))
      exam.chose(`answers exit_code ${exitCode} for a program that does not exist`)
    },
  },
  {
    id: 'EXE-39',
    sends: 'An action with inline hints; if stdout_raw or contents are filled, the bytes are right.',
    run: async (exam) => {
      const command = { outputPaths: ['f'] }
      const { actionDigest } = await uploadAction(exam, { script: 'echo out; echo err >&2; echo file > f', command })
      const hints = { inlineStdout: true, inlineStderr: true, inlineOutputFiles: ['f', 'no-such-file'] }
      const result = resultOf(exam, await execute(exam, actionDigest, hints))
      const inlined = [result.stdoutRaw, result.stderrRaw, result.outputFiles[0]?.contents ?? Buffer.alloc(0)]
      const texts = ['out\n', 'err\n', 'file\n']
      for (const [at, bytes] of inlined.entries()) {
        if (bytes.length > 0) exam.expectEqual(bytes.toString(), texts[at], 'what is inlined')
      }
      exam.chose(`inlines ${inlined.filter(({ length }) => length > 0).length} of 3`)
    },
  },
  {
    id: 'EXE-40',
    sends: 'A command that prints on both streams; the bytes are there, raw or by digest.',
    run: async (exam) => {
      const { result } = await run(exam, { script: "printf 'a\\0b\\377'; printf oops >&2" })
      exam.expectBytes(await outputBytes(exam, result, 'stdout'), Buffer.from('a\0b\xff', 'latin1'), 'stdout')
      exam.expectEqual(await outputText(exam, result, 'stderr'), 'oops', 'stderr')
    },
  },
  {
    id: 'EXE-41',
    isBulky: true,
    sends: 'A command that prints 10 MiB, to a client that takes 4 MiB a message; stdout comes by digest.',
    run: async (exam) => {
      const client = exam.connect({ 'grpc.max_receive_message_length': 4 << 20 })
      const { actionDigest } = await uploadAction(exam, { script: 'head -c 10485760 /dev/zero' })
      const request = executeRequest(exam, actionDigest, { inlineStdout: true })
      const outcome = await exam.call(methods.execute, request, { client, deadlineMs: 25_000 })
      const result = resultOf(exam, executionOf(outcome))
      const digest = exam.present(result.stdoutDigest, 'stdout_digest')
      exam.expectEqual(digest.sizeBytes, 10_485_760, 'the size of stdout')
      exam.expectEqual(result.stdoutRaw.length, 0, 'the length of stdout_raw')
    },
  },
  {
    id: 'EXE-43',
    sends: 'An action; what server_logs name can be read from the CAS.',
    run: async (exam) => {
      const { execution } = await run(exam, { script: 'echo logged' })
      const logs = Object.entries(responseOf(exam, execution).serverLogs)
      for (const [name, { digest }] of logs) await readBlob(exam, exam.present(digest, `a digest for ${name}`))
      exam.chose(`gives ${logs.length} server_logs`)
    },
  },
  {
    id: 'EXE-44',
    sends: 'Actions that exit with 0 and with 1; with status OK there is a result each time.',
    run: async (exam) => {
      for (const script of ['true', 'false']) {
        const { actionDigest } = await uploadAction(exam, { script })
        resultOf(exam, await execute(exam, actionDigest))
      }
    },
  },
  {
    id: 'EXE-46',
    sends: 'An action run and then found in the cache; execution_metadata is set both times.',
    run: async (exam) => {
      const { prepared, result } = await run(exam, { script: 'true' })
      const again = resultOf(exam, await execute(exam, prepared.actionDigest))
      const isSet = result.executionMetadata !== null && again.executionMetadata !== null
      exam.observed('execution_metadata set', isSet)
      exam.expect(isSet, 'execution_metadata', 'none')
    },
  },
  {
    id: 'EXE-47',
    sends: 'An action; the worker has a name, and the timestamps are in order.',
    run: async (exam) => {
      const { result } = await run(exam, { script: 'sleep 0.1' })
      const metadata = exam.present(result.executionMetadata, 'execution_metadata')
      exam.expect(metadata.worker !== '', 'the name of a worker', 'none')
      const stamps = [
        metadata.queuedTimestamp,
        metadata.workerStartTimestamp,
        metadata.inputFetchStartTimestamp,
        metadata.inputFetchCompletedTimestamp,
        metadata.executionStartTimestamp,
        metadata.executionCompletedTimestamp,
        metadata.outputUploadStartTimestamp,
        metadata.outputUploadCompletedTimestamp,
        metadata.workerCompletedTimestamp,
      ].map((stamp) => toMs(exam.present(stamp, 'all nine timestamps')))
      const inOrder = [...stamps].sort((a, b) => a - b)
      exam.expectEqual(stamps, inOrder, 'the timestamps, from queued to worker_completed')
    },
  },
  {
    id: 'EXE-48',
    sends: 'An action of 300 ms; virtual_execution_duration and partial metadata, if set, agree with the timestamps.',
    run: async (exam) => {
      const { result, execution } = await run(exam, { script: 'sleep 0.3' })
      const duration = result.executionMetadata?.virtualExecutionDuration
      if (duration) exam.expect(toMs(duration) >= 290, '300 ms or more', `${toMs(duration)} ms`)
      exam.chose(duration ? 'states virtual_execution_duration' : 'states no virtual_execution_duration')
      const partial = execution.outcome.responses.some(
        ({ metadata }) => metadata !== null && metadataCodec.decode(metadata.value).partialExecutionMetadata !== null,
      )
      exam.chose(partial ? 'sends partial metadata while running' : 'sends no partial metadata')
    },
  },
  {
    id: 'EXE-49',
    sends: 'An action that prints and goes on; a stream name, if given, can be read while it runs.',
    run: async (exam) => {
      const { stream } = await start(exam, { script: 'echo early; sleep 1.5' })
      const named = await nextOperation(stream, ({ metadata }) => {
        return metadata !== null && metadataCodec.decode(metadata.value).stdoutStreamName !== ''
      })
      if (named?.metadata == null) return exam.chose('gives no stream names')
      const { stdoutStreamName } = metadataCodec.decode(named.metadata.value)
      const outcome = await exam.read(stdoutStreamName)
      exam.chose(outcome.code === 0 ? 'streams stdout' : `names a stream that is refused with code ${outcome.code}`)
    },
  },
  {
    id: 'EXE-50',
    sends: 'An action with files, a directory and output; at its end all digests are in the CAS.',
    run: async (exam) => {
      const script = `mkdir d; ${RANDOM_LINE} > d/f; ${RANDOM_LINE} > f; ${RANDOM_LINE}; ${RANDOM_LINE} >&2`
      const { result } = await run(exam, { script, command: { outputPaths: ['d', 'f'] } })
      const digests = [
        ...result.outputFiles.map(({ digest }) => digest),
        ...result.outputDirectories.map(({ treeDigest }) => treeDigest),
        result.stdoutDigest,
        result.stderrDigest,
      ].filter((digest) => digest !== null)
      exam.expectEqual(await exam.missing(digests), [], 'the missing outputs')
    },
  },
]

export const executeChecks: readonly Check[] = onWorkers([...streamChecks, ...cacheChecks, ...resultChecks])
