import { blake3 } from 'hash-wasm'
import { DigestFunction } from '../../../src/proto/generated/build.bazel.remote.execution.v2.js'
import type { Digest, Exam } from '../../exam/exam.js'
import {
  type ActionResult,
  execute,
  executeRequest,
  executionOf,
  expectAnyFailure,
  onWorkers,
  resultOf,
  uploadAction,
} from '../../material/action.js'
import { codec } from '../../proto/codec.js'
import type { Check } from '../../requirements/check.js'
import * as methods from '../../wire/methods.js'

const actionCodec = codec('build.bazel.remote.execution.v2.Action')
const commandCodec = codec('build.bazel.remote.execution.v2.Command')

const announcedFor = (exam: Exam): readonly (number | undefined)[] => {
  const { executionCapabilities, cacheCapabilities } = exam.capabilities
  return [
    ...(executionCapabilities?.digestFunctions ?? []),
    ...(cacheCapabilities?.digestFunctions ?? []),
    executionCapabilities?.digestFunction,
  ]
}

/** The digests of stdout and of the only output file. */
const digestsOf = (exam: Exam, result: ActionResult): Digest[] =>
  [result.stdoutDigest, result.outputFiles[0]?.digest].map((digest) => exam.present(digest, 'digests of both outputs'))

const blake3Of = async (bytes: Buffer): Promise<Digest> => ({ hash: await blake3(bytes), sizeBytes: bytes.length })

/** Runs an action whose digests are all BLAKE3; it prints a line and writes it to a file. Returns the line too. */
const runUnderBlake3 = async (exam: Exam): Promise<{ line: Buffer; result: ActionResult }> => {
  const line = Buffer.from(`${exam.uuid()}\n`)
  const { properties } = exam.candidate
  const platform = properties.length === 0 ? null : { properties }
  const command = commandCodec.encode({
    arguments: ['/bin/sh', '-c', `echo ${line.toString().trim()} | tee f`],
    environmentVariables: [{ name: 'PATH', value: '/bin:/usr/bin' }],
    outputPaths: ['f'],
    platform,
  })
  const commandDigest = await blake3Of(command)
  const inputRootDigest = await blake3Of(Buffer.alloc(0))
  const action = actionCodec.encode({ commandDigest, inputRootDigest, platform })
  const actionDigest = await blake3Of(action)
  const stored = await exam.call(methods.batchUpdateBlobs, {
    instanceName: exam.instanceName,
    requests: [
      { digest: commandDigest, data: command },
      { digest: actionDigest, data: action },
    ],
    digestFunction: DigestFunction.BLAKE3,
  })
  exam.expectCode(stored, 'OK')
  const request = executeRequest(exam, actionDigest, { digestFunction: DigestFunction.BLAKE3 })
  const execution = executionOf(await exam.call(methods.execute, request, { deadlineMs: 25_000 }))
  return { line, result: resultOf(exam, execution) }
}

const digestChecks: readonly Check[] = [
  {
    id: 'EXE-45',
    needs: ['api:2.3'],
    sends:
      'Actions under SHA256, BLAKE3 if announced, and an unannounced function; digests of the same function, or rejected.',
    run: async (exam) => {
      const announced = announcedFor(exam)
      const other = [DigestFunction.SHA256TREE, DigestFunction.MURMUR3, DigestFunction.VSO].find(
        (each) => !announced.includes(each),
      )
      const command = { outputPaths: ['f'] }
      const { actionDigest } = await uploadAction(exam, { script: 'echo sha | tee f', command })
      if (other !== undefined) {
        expectAnyFailure(exam, await execute(exam, actionDigest, { digestFunction: other }))
      }
      const right = resultOf(exam, await execute(exam, actionDigest, { digestFunction: DigestFunction.SHA256 }))
      const sha = exam.digest(Buffer.from('sha\n'))
      for (const { hash } of digestsOf(exam, right)) exam.expectEqual(hash, sha.hash, 'the SHA256 of an output')
      if (exam.capabilities.executionCapabilities?.digestFunctions.includes(DigestFunction.BLAKE3) !== true) return
      const { line, result } = await runUnderBlake3(exam)
      const { hash: wanted } = await blake3Of(line)
      for (const { hash } of digestsOf(exam, result)) exam.expectEqual(hash, wanted, 'the BLAKE3 of an output')
      exam.chose('runs actions under BLAKE3')
    },
  },
]

export const executionDigestChecks: readonly Check[] = onWorkers(digestChecks)
