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

// Actions as checks build them: a command for /bin/sh or a program of coreutils, its input root, and what it leaves.

const actionCodec = codec('build.bazel.remote.execution.v2.Action')
const commandCodec = codec('build.bazel.remote.execution.v2.Command')
const responseCodec = codec('build.bazel.remote.execution.v2.ExecuteResponse')
const metadataCodec = codec('build.bazel.remote.execution.v2.ExecuteOperationMetadata')

export type Operation = Output<'google.longrunning.Operation'>
export type ExecuteResponse = Output<'build.bazel.remote.execution.v2.ExecuteResponse'>
export type ActionResult = Output<'build.bazel.remote.execution.v2.ActionResult'>
type Property = { readonly name: string; readonly value: string }

export interface ActionPlan {
  /** Run by `/bin/sh -c`; `arguments` goes before it. */
  readonly script?: string
  readonly arguments?: readonly string[]
  readonly environment?: Readonly<Record<string, string>>
  readonly inputs?: InputTree
  /** Further fields of the Command: outputs, working directory, format. */
  readonly command?: Input<'build.bazel.remote.execution.v2.Command'>
  /** Which of the output_paths are directories: a server below 2.1 is told of outputs the old way. */
  readonly outputDirectories?: readonly string[]
  readonly timeoutMs?: number
  readonly doNotCache?: boolean
  readonly salt?: Uint8Array
  /** In place of the candidate's properties. */
  readonly actionProperties?: readonly Property[] | null
  readonly commandProperties?: readonly Property[] | null
}

/** An action with every blob it needs, none of them uploaded yet. */
export interface PreparedAction {
  readonly actionDigest: Digest
  readonly commandDigest: Digest
  readonly rootDigest: Digest
  readonly blobs: readonly Buffer[]
}

/** What a call to Execute or WaitExecution gave. */
export interface Execution {
  readonly outcome: Outcome<Operation>
  readonly name: string
  readonly last: Operation | undefined
  readonly response: ExecuteResponse | undefined
}

/** Fresh each time: a variable of the command tells this action from all others ever run. */
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

/** The Command's further fields; outputs are named by output_files and output_directories where the server wants that. */
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

/** Executes and waits for the end of the stream, whatever that is. */
export const execute = async (
  exam: Exam,
  actionDigest: Digest,
  more: Input<'build.bazel.remote.execution.v2.ExecuteRequest'> = {},
  deadlineMs = 25_000,
): Promise<Execution> =>
  executionOf(await exam.call(methods.execute, executeRequest(exam, actionDigest, more), { deadlineMs }))

/** What the operations of a stream say; the response is that of the last one, if it is done. */
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

/** The response of an execution that the call itself did not refuse. */
export const responseOf = (exam: Exam, execution: Execution): ExecuteResponse => {
  exam.expectCode(execution.outcome, 'OK')
  return exam.present(execution.response, 'a last Operation that is done and holds a response')
}

/** The result of an execution whose status is OK. */
export const resultOf = (exam: Exam, execution: Execution): ActionResult => {
  const { status, result } = responseOf(exam, execution)
  exam.expect((status?.code ?? 0) === 0, 'ExecuteResponse.status OK', `${status?.code} ${status?.message}`)
  return exam.present(result, 'a result')
}

/** Uploads, executes, and gives the result of an action that must exit with 0. */
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

/** A failure, wherever the server put it. */
export interface Failure {
  readonly at: 'call' | 'response' | 'nowhere'
  readonly code: number
  readonly message: string
  readonly details: readonly { readonly typeUrl: string; readonly value: Buffer }[]
}

/** The error of the call, or of the response; code 0 when there was none. */
export const failureOf = ({ outcome, response }: Execution): Failure => {
  if (outcome.code !== 0) {
    return { at: 'call', code: outcome.code, message: outcome.message, details: outcome.details }
  }
  const status = response?.status
  if (!status || status.code === 0) return { at: 'nowhere', code: 0, message: '', details: [] }
  return { at: 'response', code: status.code, message: status.message, details: status.details }
}

/** The failure, which has one of these codes, wherever it stands. */
export const expectFailure = (exam: Exam, execution: Execution, ...codes: readonly number[]) => {
  const failure = failureOf(execution)
  const names = codes.map(codeName).join(' or ')
  exam.expect(codes.includes(failure.code), names, `${codeName(failure.code)} ${failure.message}`)
  return failure
}

/** The failure, whatever its code: the text asks for one and does not say which. */
export const expectAnyFailure = (exam: Exam, execution: Execution): Failure => {
  const failure = failureOf(execution)
  exam.expect(failure.code !== 0, 'a failure', 'a run')
  return failure
}

/** Uploads and executes an action that must fail, with one of these codes if any are given; what came, for the record. */
export const expectRefusal = async (exam: Exam, plan: ActionPlan, ...codes: readonly number[]): Promise<string> => {
  const { actionDigest } = await uploadAction(exam, plan)
  const execution = await execute(exam, actionDigest)
  const { code, at } = codes.length === 0 ? expectAnyFailure(exam, execution) : expectFailure(exam, execution, ...codes)
  return `${codeName(code)} in the ${at}`
}

export const outputText = async (exam: Exam, result: ActionResult, of: 'stdout' | 'stderr'): Promise<string> =>
  (await outputBytes(exam, result, of)).toString('utf8')

/** stdout or stderr, from the CAS when a digest is set and else from the result itself. */
export const outputBytes = async (exam: Exam, result: ActionResult, of: 'stdout' | 'stderr'): Promise<Buffer> => {
  const [raw, digest] =
    of === 'stdout' ? [result.stdoutRaw, result.stdoutDigest] : [result.stderrRaw, result.stderrDigest]
  return digest === null || digest.sizeBytes === 0 ? raw : readBlob(exam, digest)
}

export const readBlob = async (exam: Exam, digest: Digest): Promise<Buffer> => {
  const outcome = await exam.read(exam.readName(digest))
  exam.expectCode(outcome, 'OK')
  exam.expectEqual(
    digestOf(outcome.data),
    { hash: digest.hash, sizeBytes: digest.sizeBytes },
    'the digest of the bytes',
  )
  return outcome.data
}

/** The digest of the bytes that a Read of a blob gives, for more of them than a check should hold. */
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

/** The bytes of an output file. */
export const outputFile = async (exam: Exam, result: ActionResult, path: string): Promise<Buffer> => {
  const file = result.outputFiles.find((each) => each.path === path)
  return readBlob(exam, exam.present(file?.digest, `an OutputFile ${JSON.stringify(path)} with a digest`))
}

/** Waits for a further Operation that satisfies `wanted`; undefined when the stream ended without one. */
export const nextOperation = async (
  conversation: { next(): Promise<Operation | undefined> },
  wanted: (operation: Operation) => boolean,
): Promise<Operation | undefined> => {
  for (let next = await conversation.next(); next !== undefined; next = await conversation.next()) {
    if (wanted(next)) return next
  }
  return undefined
}

/** Starts an action and gives the open stream after its first message. */
export const start = async (exam: Exam, plan: ActionPlan) => {
  const prepared = await uploadAction(exam, plan)
  const stream = exam.open(methods.execute, { deadlineMs: 25_000 })
  await stream.send(executeRequest(exam, prepared.actionDigest))
  stream.halfClose()
  const first = await stream.next()
  exam.expect(first !== undefined, 'a first Operation', 'the end of the stream')
  return { prepared, stream, first, name: first?.name ?? '' }
}

/** The code of a refusal, or 0: an accepted action of low priority may wait for as long as others come. */
export const codeAtPriority = async (exam: Exam, priority: number): Promise<number> => {
  const { actionDigest } = await uploadAction(exam, { script: 'true' })
  const stream = exam.open(methods.execute, { deadlineMs: 20_000 })
  await stream.send(executeRequest(exam, actionDigest, { executionPolicy: { priority } }))
  stream.halfClose()
  const first = await stream.next()
  if (first === undefined) return (await stream.outcome).code
  return first.done ? failureOf(executionOf(await stream.outcome)).code : 0
}

/** Random lines that no other run gives: what a second run of the same action would not repeat. */
export const RANDOM_LINE = 'od -An -N16 -tx1 /dev/urandom'

/** Checks that run actions need all that actions are made of. */
export const onWorkers = (checks: readonly Check[]): readonly Check[] =>
  checks.map((check) => ({
    ...check,
    needs: ['execution', 'cas', 'bytestream', ...(check.needs ?? [])],
  }))
