import { DigestFunction } from '../../../src/proto/generated/build.bazel.remote.execution.v2.js'
import { digestOf, type Exam } from '../../exam/exam.js'
import {
  type Execution,
  execute,
  expectFailure,
  failureOf,
  onWorkers,
  prepareAction,
  resultOf,
} from '../../material/action.js'
import { directory, file } from '../../material/input-tree.js'
import { holds } from '../../proto/any.js'
import { codec } from '../../proto/codec.js'
import type { Check } from '../../requirements/check.js'

const preconditionCodec = codec('google.rpc.PreconditionFailure')
const FAILED_PRECONDITION = 9

/** An action with a file, a nested directory and a command; everything but `without` is uploaded. */
const incomplete = async (exam: Exam, without: 'command' | 'root' | 'nested' | 'file' | 'all inputs') => {
  const plan = { script: 'cat f', inputs: { f: file(exam.uuid()), d: directory({ u: file(exam.uuid()) }) } }
  const prepared = prepareAction(exam, plan)
  const [root, ...others] = prepared.blobs
  const action = prepared.blobs.at(-1)
  const command = prepared.blobs.at(-2)
  const files = others.filter(({ length }) => length === 36)
  const directories = others.filter((blob) => blob.length !== 36 && blob !== action && blob !== command)
  const left: readonly (Buffer | undefined)[] = {
    command: [command],
    root: [root],
    nested: directories,
    file: files.slice(0, 1),
    'all inputs': files,
  }[without]
  await exam.upload(...prepared.blobs.filter((blob) => !left.includes(blob)))
  const blobs = left.filter((blob) => blob !== undefined)
  return { prepared, left: blobs, subjects: blobs.map((blob) => `blobs/${digestOf(blob).hash}/${blob.length}`) }
}

const violationsOf = (execution: Execution) =>
  failureOf(execution)
    .details.filter((any) => holds(any, preconditionCodec))
    .flatMap((any) => preconditionCodec.decode(any.value).violations)

const missingChecks: readonly Check[] = [
  {
    id: 'EXE-11',
    sends: 'The digest of an action that is not in the CAS; FAILED_PRECONDITION, INVALID_ARGUMENT or NOT_FOUND.',
    run: async (exam) => {
      const failure = expectFailure(exam, await execute(exam, exam.digest(exam.random(60))), FAILED_PRECONDITION, 3, 5)
      exam.chose(`reports a missing action in the ${failure.at}`)
    },
  },
  {
    id: 'EXE-12',
    sends: 'Actions without their Command, root, nested Directory or input file; FAILED_PRECONDITION each.',
    run: async (exam) => {
      const parts = ['command', 'root', 'nested', 'file'] as const
      const actions = await Promise.all(parts.map((without) => incomplete(exam, without)))
      const executions = await Promise.all(actions.map(({ prepared }) => execute(exam, prepared.actionDigest)))
      for (const execution of executions) expectFailure(exam, execution, FAILED_PRECONDITION)
    },
  },
  {
    id: 'EXE-13',
    sends: 'An action without two of its input files; the details name both as MISSING, as blobs/{hash}/{size}.',
    run: async (exam) => {
      const { prepared, subjects } = await incomplete(exam, 'all inputs')
      const violations = violationsOf(await execute(exam, prepared.actionDigest))
      exam.expectEqual(violations.map(({ subject }) => subject).sort(), subjects.sort(), 'the subjects')
      exam.observed('segments of a subject', violations[0]?.subject.split('/').length ?? 0)
      exam.expectEqual([...new Set(violations.map(({ type }) => type))], ['MISSING'], 'the types')
    },
  },
  {
    id: 'EXE-56',
    sends: 'An action without some hundred of its input files; each of them is named as missing.',
    run: async (exam) => {
      const blobs = Array.from({ length: HUNDREDS }, () => exam.random(20))
      const inputs = Object.fromEntries(blobs.map((blob, at) => [`f${at}`, file(blob)]))
      const absent = new Set(blobs.map((blob) => exam.digest(blob).hash))
      const prepared = prepareAction(exam, { inputs })
      await exam.upload(...prepared.blobs.filter((blob) => !absent.has(exam.digest(blob).hash)))
      const violations = violationsOf(await execute(exam, prepared.actionDigest))
      const expected = blobs.map((blob) => `blobs/${exam.digest(blob).hash}/20`)
      exam.expectEqual(
        [...new Set(violations.map(({ subject }) => subject))].sort(),
        expected.sort(),
        'the blobs named as missing',
      )
    },
  },
  {
    id: 'EXE-14',
    sends: 'An absent action under BLAKE3; the subject names the function and no instance.',
    needs: ['digest-function:BLAKE3'],
    run: async (exam) => {
      const absent = { hash: exam.random(32).toString('hex'), sizeBytes: 70 }
      const execution = await execute(exam, absent, { digestFunction: DigestFunction.BLAKE3 })
      expectFailure(exam, execution, FAILED_PRECONDITION, 3, 5)
      const [violation] = violationsOf(execution)
      if (violation === undefined) exam.notApplicable('the server names no missing blobs')
      exam.expectEqual(violation?.subject, `blobs/blake3/${absent.hash}/70`, 'the subject')
    },
  },
  {
    id: 'EXE-15',
    sends: 'An action without an input file; one detail, a PreconditionFailure whose violations are all MISSING.',
    run: async (exam) => {
      const { prepared } = await incomplete(exam, 'file')
      const execution = await execute(exam, prepared.actionDigest)
      const { details } = failureOf(execution)
      const [first] = details
      const kind = first === undefined ? '' : ` ${first.typeUrl.slice(first.typeUrl.lastIndexOf('.') + 1)}`
      exam.observed('details of missing inputs', `${details.length}${kind}`)
      const types = violationsOf(execution).map(({ type }) => type)
      exam.observed('all violations are MISSING', types.length > 0 && types.every((type) => type === 'MISSING'))
      exam.expectEqual(
        details.map(({ typeUrl }) => typeUrl),
        ['type.googleapis.com/google.rpc.PreconditionFailure'],
        'the types of the details',
      )
      exam.expect(
        types.every((type) => type === 'MISSING'),
        'only MISSING',
        types.join(', '),
      )
    },
  },
  {
    id: 'EXE-16',
    sends: 'An action without an input file; FAILED_PRECONDITION in the response, or of the call with its details.',
    run: async (exam) => {
      const { prepared } = await incomplete(exam, 'file')
      const failure = expectFailure(exam, await execute(exam, prepared.actionDigest), FAILED_PRECONDITION)
      exam.observed('where missing inputs are reported', failure.at)
      exam.chose(`reports missing inputs in the ${failure.at}`)
      if (failure.at === 'call') exam.expect(failure.details.length > 0, 'details in the trailer', 'none')
    },
  },
  {
    id: 'EXE-17',
    sends: 'An action that lacks a file, and again after the upload of that file; it runs.',
    run: async (exam) => {
      const { prepared, left } = await incomplete(exam, 'file')
      const { code } = failureOf(await execute(exam, prepared.actionDigest))
      exam.expect(code !== 0, 'a failure while the file is missing', 'OK')
      await exam.upload(...left)
      exam.expectEqual(resultOf(exam, await execute(exam, prepared.actionDigest)).exitCode, 0, 'exit_code')
    },
  },
]

/** More would not fit in the trailers of a call, where a server may put the details. */
const HUNDREDS = 150

export const missingInputChecks: readonly Check[] = onWorkers(missingChecks)
