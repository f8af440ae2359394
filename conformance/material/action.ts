import { createHash } from 'node:crypto'
import { knowsApi } from '../exam/candidate.js'
import { type Digest, digestOf, type Exam } from '../exam/exam.js'
import { codec, type Input, type Output } from '../proto/codec.js'
import { codeName } from '../proto/status-code.js'
import { durationOf } from '../proto/time.js'
import type { Check } from '../requirements/check.js'
import type { Outcome } from '../wire/client.js'
import * as methods from '../wire/methods.js'
import { directory, type InputTree, packed } from './input-tree.js'

// Actions as checks build them: a command for /bin/sh or coreutils, its input root, and its outputs.

const actionCodec = codec('build.bazel.remote.execution.v2.Action')
const commandCodec = codec('build.bazel.remote.execution.v2.Command')
const responseCodec = codec('build.bazel.remote.execution.v2.ExecuteResponse')
const metadataCodec = codec('build.bazel.remote.execution.v2.ExecuteOperationMetadata')

export type Operation = Output<'google.longrunning.Operation'>
export type ExecuteResponse = Output<'build.bazel.remote.execution.v2.ExecuteResponse'>
export type ActionResult = Output<'build.bazel.remote.execution.v2.ActionResult'>
type Property = { readonly name: string; readonly value: string }

export interface ActionPlan {
  /** Runs by `/bin/sh -c`; `arguments` takes precedence. */
  readonly script?: string
  readonly arguments?: readonly string[]
  readonly environment?: Readonly<Record<string, string>>
  readonly inputs?: InputTree
  /** More fields of the Command: outputs, working directory, format. */
  readonly command?: Input<'build.bazel.remote.execution.v2.Command'>
  /** The output_paths that are directories: servers below 2.1 need output_directories. */
  readonly outputDirectories?: readonly string[]
  readonly timeoutMs?: number
  readonly doNotCache?: boolean
  readonly salt?: Uint8Array
  /** Replaces the candidate's properties. */
  readonly actionProperties?: readonly Property[] | null
  readonly commandProperties?: readonly Property[] | null
}

/** An action and every blob it needs. None of them is uploaded yet. */
export interface PreparedAction {
  readonly actionDigest: Digest
  readonly commandDigest: Digest
  readonly rootDigest: Digest
  readonly blobs: readonly Buffer[]
}

/** The result of a call to Execute or WaitExecution. */
export interface Execution {
  readonly outcome: Outcome<Operation>
  readonly name: string
  readonly last: Operation | undefined
  readonly response: ExecuteResponse | undefined
}

/** Builds an action that is new to every server: the command gets a unique variable. */
export const prepareAction = (exam: Exam, plan: ActionPlan): PreparedAction => {
  const environment = { CONFORMANCE_RUN: exam.uuid(), PATH: '/bin:/usr/bin', ...plan.environment }
  const root = packed(directory(plan.inputs ?? {}))
  const own = exam.candidate.properties
  const platform = (properties: readonly Property[] | null | undefined) =>
    properties === null || (properties ?? own).length === 0 ? null : { properties: sorted(properties ?? own) }
  const command = commandCodec.encode({
    arguments: plan.arguments ?? ['/bin/sh', '-c', plan.script ?? 'true'],
    environmentVariables: Object.entries(environment)
      .sort(([a], [b]) => (a < b ? -1 : 1))
      .map(([name, value]) => ({ name, value })),
    ...understood(exam, plan),
    platform: platform(plan.commandProperties),
  })
  const action = actionCodec.encode({
    commandDigest: digestOf(command),
    inputRootDigest: root.digest,
    timeout: plan.timeoutMs === undefined ? null : durationOf(plan.timeoutMs),
    doNotCache: plan.doNotCache ?? false,
    salt: plan.salt ?? Buffer.alloc(0),
    platform: platform(plan.actionProperties),
  })
  return {
    actionDigest: digestOf(action),
    commandDigest: digestOf(command),
    rootDigest: root.digest,
    blobs: [...root.blobs, command, action].filter(({ length }) => length > 0),
  }
}

/** More fields of the Command. Outputs become output_files and output_directories for servers below 2.1. */
const understood = (exam: Exam, { command = {}, outputDirectories = [] }: ActionPlan): ActionPlan['command'] => {
  const { outputPaths, ...rest } = command
  if (outputPaths === undefined || knowsApi(exam.candidate, 1)) return command
  const isDirectory = (path: string): boolean => outputDirectories.includes(path)
  return {
    ...rest,
    outputFiles: outputPaths.filter((path) => !isDirectory(path)),
    outputDirectories: outputPaths.filter(isDirectory),
  }
}

const sorted = (properties: readonly Property[]): Property[] =>
  [...properties].sort((a, b) => (`${a.name}\0${a.value}` < `${b.name}\0${b.value}` ? -1 : 1))

export const uploadAction = async (exam: Exam, plan: ActionPlan): Promise<PreparedAction> => {
  const prepared = prepareAction(exam, plan)
  await exam.upload(...prepared.blobs)
  return prepared
}

export const executeRequest = (
  exam: Exam,
  actionDigest: Digest,
  more: Input<'build.bazel.remote.execution.v2.ExecuteRequest'> = {},
): Input<'build.bazel.remote.execution.v2.ExecuteRequest'> => ({
  instanceName: exam.instanceName,
  actionDigest,
  ...more,
})

/** Executes and waits until the stream ends, with whatever status. */
export const execute = async (
  exam: Exam,
  actionDigest: Digest,
  more: Input<'build.bazel.remote.execution.v2.ExecuteRequest'> = {},
  deadlineMs = 25_000,
): Promise<Execution> =>
  executionOf(await exam.call(methods.execute, executeRequest(exam, actionDigest, more), { deadlineMs }))

/** Reads the operations of a stream; the response is the last one's, if it is done. */
export const executionOf = (outcome: Outcome<Operation>): Execution => {
  const last = outcome.responses.at(-1)
  const packedResponse = last?.done === true ? last.response : null
  return {
    outcome,
    name: outcome.responses.find(({ name }) => name !== '')?.name ?? '',
    last,
    response: packedResponse === null ? undefined : responseCodec.decode(packedResponse.value),
  }
}

export const stageOf = (operation: Operation): number =>
  operation.metadata === null ? -1 : metadataCodec.decode(operation.metadata.value).stage

/** The response of an execution; the call itself must have succeeded. */
export const responseOf = (exam: Exam, execution: Execution): ExecuteResponse => {
  exam.expectCode(execution.outcome, 'OK')
  return exam.present(execution.response, 'a last Operation that is done and has a response')
}

/** The result of an execution whose status is OK. */
export const resultOf = (exam: Exam, execution: Execution): ActionResult => {
  const { status, result } = responseOf(exam, execution)
  exam.expectStatus(status, 'of ExecuteResponse')
  return exam.present(result, 'a result')
}

/** Uploads and executes an action that must exit with 0, and returns its result. */
export const run = async (
  exam: Exam,
  plan: ActionPlan,
): Promise<{ prepared: PreparedAction; execution: Execution; result: ActionResult }> => {
  const prepared = await uploadAction(exam, plan)
  const execution = await execute(exam, prepared.actionDigest)
  const result = resultOf(exam, execution)
  const said = result.exitCode === 0 ? '' : (await outputText(exam, result, 'stderr')).slice(0, 200)
  exam.expect(result.exitCode === 0, 'the action to exit with 0', `${result.exitCode} ${said}`)
  return { prepared, execution, result }
}

/** The error, whether it is the status of the call or of the response. */
export interface Failure {
  readonly at: 'call' | 'response' | 'nowhere'
  readonly code: number
  readonly message: string
  readonly details: readonly { readonly typeUrl: string; readonly value: Buffer }[]
}

/** The error of the call or of the response; code 0 means none. */
export const failureOf = ({ outcome, response }: Execution): Failure => {
  if (outcome.code !== 0) {
    return { at: 'call', code: outcome.code, message: outcome.message, details: outcome.details }
  }
  const status = response?.status
  if (!status || status.code === 0) return { at: 'nowhere', code: 0, message: '', details: [] }
  return { at: 'response', code: status.code, message: status.message, details: status.details }
}

/** The error, which must have one of these codes, in either place. */
export const expectFailure = (exam: Exam, execution: Execution, ...codes: readonly number[]) => {
  const failure = failureOf(execution)
  const names = codes.map(codeName).join(' or ')
  exam.expect(codes.includes(failure.code), names, `${codeName(failure.code)} ${failure.message}`)
  return failure
}

/** The error, with any code, for requirements that name none. */
export const expectAnyFailure = (exam: Exam, execution: Execution): Failure => {
  const failure = failureOf(execution)
  exam.expect(failure.code !== 0, 'a failure', 'a run')
  return failure
}

/**
 * Uploads and executes an action that must fail, with one of `codes` if any are given. Returns what came, for the
 * transcript.
 */
export const expectRefusal = async (exam: Exam, plan: ActionPlan, ...codes: readonly number[]): Promise<string> => {
  const { actionDigest } = await uploadAction(exam, plan)
  const execution = await execute(exam, actionDigest)
  const { code, at } = codes.length === 0 ? expectAnyFailure(exam, execution) : expectFailure(exam, execution, ...codes)
  return `${codeName(code)} in the ${at}`
}

export const outputText = async (exam: Exam, result: ActionResult, of: 'stdout' | 'stderr'): Promise<string> =>
  (await outputBytes(exam, result, of)).toString('utf8')

/** stdout or stderr: from the CAS if a digest is set, else from the result. */
export const outputBytes = async (exam: Exam, result: ActionResult, of: 'stdout' | 'stderr'): Promise<Buffer> => {
  const [raw, digest] =
    of === 'stdout' ? [result.stdoutRaw, result.stdoutDigest] : [result.stderrRaw, result.stderrDigest]
  if (digest === null || digest.hash === '') return raw
  const bytes = digest.sizeBytes === 0 ? Buffer.alloc(0) : await readBlob(exam, digest)
  // A copy beside the digest may be left out, and clients that find one read no further.
  if (raw.length > 0) exam.expectBytes(raw, bytes, `${of}_raw beside ${of}_digest`)
  return bytes
}

export const readBlob = async (exam: Exam, digest: Digest): Promise<Buffer> => {
  const outcome = await exam.read(exam.readName(digest))
  exam.expectCode(outcome, 'OK')
  exam.expectTrue(digestOf(outcome.data), { hash: digest.hash, sizeBytes: digest.sizeBytes }, 'the digest of the bytes')
  return outcome.data
}

/** The digest of a blob's content, computed while reading, for blobs too large to hold. */
export const readDigest = async (exam: Exam, digest: Digest): Promise<Digest> => {
  const hash = createHash('sha256')
  let sizeBytes = 0
  const onResponse = ({ data }: Output<'google.bytestream.ReadResponse'>): void => {
    hash.update(data)
    sizeBytes += data.length
  }
  exam.expectCode(await exam.call(methods.read, { resourceName: exam.readName(digest) }, { onResponse }), 'OK')
  return { hash: hash.digest('hex'), sizeBytes }
}

/** The content of an output file. */
export const outputFile = async (exam: Exam, result: ActionResult, path: string): Promise<Buffer> => {
  const file = result.outputFiles.find((each) => each.path === path)
  return readBlob(exam, exam.present(file?.digest, `an OutputFile ${JSON.stringify(path)} with a digest`))
}

/** Waits for the next Operation that satisfies `wanted`; undefined if the stream ended first. */
export const nextOperation = async (
  conversation: { next(): Promise<Operation | undefined> },
  wanted: (operation: Operation) => boolean,
): Promise<Operation | undefined> => {
  for (let next = await conversation.next(); next !== undefined; next = await conversation.next()) {
    if (wanted(next)) return next
  }
  return undefined
}

/** Starts an action and returns the open stream after its first message. */
export const start = async (exam: Exam, plan: ActionPlan) => {
  const prepared = await uploadAction(exam, plan)
  const stream = exam.open(methods.execute, { deadlineMs: 25_000 })
  await stream.send(executeRequest(exam, prepared.actionDigest))
  stream.halfClose()
  const first = await stream.next()
  exam.expect(first !== undefined, 'a first Operation', 'the end of the stream')
  return { prepared, stream, first, name: first?.name ?? '' }
}

/** The code of a rejection, or 0: an accepted action of low priority may wait as long as others are queued. */
export const codeAtPriority = async (exam: Exam, priority: number): Promise<number> => {
  const { actionDigest } = await uploadAction(exam, { script: 'true' })
  const stream = exam.open(methods.execute, { deadlineMs: 20_000 })
  await stream.send(executeRequest(exam, actionDigest, { executionPolicy: { priority } }))
  stream.halfClose()
  const first = await stream.next()
  if (first === undefined) return (await stream.outcome).code
  return first.done ? failureOf(executionOf(await stream.outcome)).code : 0
}

/** Random output: a second run of the same action gives other lines. */
export const RANDOM_LINE = 'od -An -N16 -tx1 /dev/urandom'

/** Checks that run actions need everything that an action consists of. */
export const onWorkers = (checks: readonly Check[]): readonly Check[] =>
  checks.map((check) => ({
    ...check,
    needs: ['execution', 'cas', 'bytestream', ...(check.needs ?? [])],
  }))
