import {
  execute,
  executeRequest,
  executionOf,
  failureOf,
  nextOperation,
  type Operation,
  onWorkers,
  outputBytes,
  outputFile,
  outputText,
  RANDOM_LINE,
  readBlob,
  readDigest,
  responseOf,
  resultOf,
  run,
  start,
  uploadAction,
} from '../../material/action.js'
import { repeatedDigest } from '../../material/large-blob.js'
import { codec, type Output } from '../../proto/codec.js'
import { codeName } from '../../proto/status-code.js'
import { toMs } from '../../proto/time.js'
import type { Check } from '../../requirements/check.js'
import * as methods from '../../wire/methods.js'

const metadataCodec = codec('build.bazel.remote.execution.v2.ExecuteOperationMetadata')

/** Scheduler and worker may have separate clocks, kept together by a daemon. */
const CLOCK_TOLERANCE_MS = 1_000

/** The timestamps that are set, in the order of their steps, in milliseconds. */
const stepsOf = (metadata: Output<'build.bazel.remote.execution.v2.ExecutedActionMetadata'>): number[] =>
  [
    metadata.queuedTimestamp,
    metadata.workerStartTimestamp,
    metadata.inputFetchStartTimestamp,
    metadata.inputFetchCompletedTimestamp,
    metadata.executionStartTimestamp,
    metadata.executionCompletedTimestamp,
    metadata.outputUploadStartTimestamp,
    metadata.outputUploadCompletedTimestamp,
    metadata.workerCompletedTimestamp,
  ]
    .filter((stamp) => stamp !== null)
    .map(toMs)

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
    sends:
      'Commands that print 2 KiB to 10 MiB on both streams, to a client that accepts messages of 4 MiB; all bytes are there.',
    run: async (exam) => {
      const client = exam.connect({ 'grpc.max_receive_message_length': 4 << 20 })
      for (const sizeBytes of [2_000, 70_000, 1_500_000, 5_000_000, 10_485_760]) {
        const script = `yes 'out of ${sizeBytes}' | head -c ${sizeBytes}; yes err | head -c ${sizeBytes} >&2`
        const { actionDigest } = await uploadAction(exam, { script })
        const request = executeRequest(exam, actionDigest, { inlineStdout: true, inlineStderr: true })
        const outcome = await exam.call(methods.execute, request, { client, deadlineMs: 25_000 })
        const result = resultOf(exam, executionOf(outcome))
        for (const [stream, line] of [
          ['stdout', `out of ${sizeBytes}\n`],
          ['stderr', 'err\n'],
        ] as const) {
          const expected = repeatedDigest(line, sizeBytes)
          const [digest, raw] =
            stream === 'stdout' ? [result.stdoutDigest, result.stdoutRaw] : [result.stderrDigest, result.stderrRaw]
          if (digest !== null) {
            exam.expectDigest(digest, expected, `${stream}_digest`)
            exam.expectDigest(await readDigest(exam, expected), expected, `the digest of ${stream}`)
          }
          if (digest === null || raw.length > 0) {
            exam.expectDigest(exam.digest(raw), expected, `the digest of ${stream}_raw`)
          }
        }
      }
    },
  },
  {
    id: 'EXE-52',
    sends: 'Commands that exit with 0 to 255, the ends and edges of the range; exit_code is the same.',
    run: async (exam) => {
      const codes = [0, 1, 2, 63, 64, 100, 126, 127, 128, 129, 192, 254, 255]
      const lane = async (exitCode: number): Promise<void> => {
        const { actionDigest } = await uploadAction(exam, { script: `exit ${exitCode}` })
        exam.expectEqual(resultOf(exam, await execute(exam, actionDigest)).exitCode, exitCode, 'exit_code')
      }
      await Promise.all(codes.map(lane))
    },
  },
  {
    id: 'EXE-43',
    sends: 'An action; the server_logs of its result can be read from the CAS.',
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
    sends: 'An action; those of the nine timestamps that are set are in order.',
    run: async (exam) => {
      const { result } = await run(exam, { script: 'sleep 0.1' })
      const metadata = result.executionMetadata
      if (metadata === null) return exam.notApplicable('the server sets no execution_metadata; see EXE-46')
      const stamps = stepsOf(metadata)
      exam.chose(`sets ${stamps.length} of 9 timestamps${metadata.worker === '' ? ', and no worker' : ''}`)
      const inOrder = [...stamps].sort((a, b) => a - b)
      exam.expectEqual(stamps, inOrder, 'the timestamps, from queued to worker_completed')
    },
  },
  {
    id: 'EXE-53',
    sends: 'An action; from the first of its timestamps to the last is no longer than the call took.',
    run: async (exam) => {
      const { result, execution } = await run(exam, { script: 'sleep 0.1' })
      const { executionMetadata } = result
      const stamps = executionMetadata === null ? [] : stepsOf(executionMetadata)
      if (stamps.length < 2) exam.notApplicable('the server sets fewer than two timestamps')
      const tookMs = Math.max(...stamps) - Math.min(...stamps)
      const { elapsedMs } = execution.outcome
      const expected = `at most the ${Math.round(elapsedMs)} ms of the call`
      exam.expect(tookMs <= elapsedMs + CLOCK_TOLERANCE_MS, expected, `${Math.round(tookMs)} ms`)
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
    sends: 'An action that prints and continues; its stream name, if given, can be read while it runs.',
    run: async (exam) => {
      const { stream, first } = await start(exam, { script: 'echo early; sleep 1.5' })
      const isNamed = ({ metadata }: Operation): boolean =>
        metadata !== null && metadataCodec.decode(metadata.value).stdoutStreamName !== ''
      const named = first !== undefined && isNamed(first) ? first : await nextOperation(stream, isNamed)
      if (named?.metadata == null) return exam.chose('gives no stream names')
      const { stdoutStreamName } = metadataCodec.decode(named.metadata.value)
      const { code, data } = await exam.read(stdoutStreamName)
      // A busy machine may tell the name, or read the stream, after the action has ended and the stream is gone.
      exam.expectInTime(code === 0, 'the stream that the server names to be readable', codeName(code))
      exam.expectInTime(data.toString().startsWith('early'), 'what the action printed', data.toString('utf8', 0, 40))
      exam.chose('streams stdout')
    },
  },
  {
    id: 'EXE-50',
    sends: 'An action with files, a directory and output; at its end all digests are in the CAS.',
    run: async (exam) => {
      const script = `mkdir -p d; ${RANDOM_LINE} > d/f; ${RANDOM_LINE} > f; ${RANDOM_LINE}; ${RANDOM_LINE} >&2`
      const { result } = await run(exam, { script, command: { outputPaths: ['d', 'f'] }, outputDirectories: ['d'] })
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

export const executionResultChecks: readonly Check[] = onWorkers(resultChecks)
