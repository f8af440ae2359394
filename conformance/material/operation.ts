import { CommandOutputDirectoryFormat } from '../../src/proto/generated/build.bazel.remote.execution.v2.js'
import type { Candidate } from '../exam/candidate.js'
import type { Exam } from '../exam/exam.js'
import { codec } from '../proto/codec.js'
import { Code } from '../proto/status-code.js'
import * as methods from '../wire/methods.js'
import {
  type ActionPlan,
  type ActionResult,
  type ExecuteResponse,
  execute,
  failureOf,
  type Operation,
  uploadAction,
} from './action.js'

// Operations as several methods report them.

const metadataCodec = codec('build.bazel.remote.execution.v2.ExecuteOperationMetadata')
const responseCodec = codec('build.bazel.remote.execution.v2.ExecuteResponse')

/** Expects both operations to agree: name, done, metadata, and response, including its times. */
export const expectTold = (
  exam: Exam,
  found: Operation | undefined,
  expected: Operation | undefined,
  what: string,
): void => exam.expectEqual(found && told(found, expected), expected && told(expected, found), what)

/**
 * An Operation with its packed messages decoded. Serialization, the order of outputs and human-readable text do not
 * matter. Nor does an inlined copy beside a digest, if only one of the two has it.
 */
const told = ({ name, done, error, metadata, response }: Operation, other: Operation | undefined): object => ({
  name,
  done,
  error: error && unworded(error),
  metadata: metadata === null ? null : metadataCodec.decode(metadata.value),
  response:
    response === null ? null : toldResponse(responseIn(response), other?.response && responseIn(other.response)),
})

const responseIn = ({ value }: { readonly value: Buffer }): ExecuteResponse => responseCodec.decode(value)

const toldResponse = (response: ExecuteResponse, other: ExecuteResponse | null | undefined): object => ({
  ...response,
  message: '',
  status: response.status && unworded(response.status),
  result: response.result && toldResult(response.result, other?.result),
})

const toldResult = (result: ActionResult, other: ActionResult | null | undefined): object => {
  const files = new Map(other?.outputFiles.map((file) => [file.path, file]))
  const directories = new Map(other?.outputDirectories.map((directory) => [directory.path, directory]))
  return {
    ...result,
    outputFiles: byPath(
      result.outputFiles.map((file) =>
        file.digest && isCopyLeftOut(file.contents, files.get(file.path)?.contents) ? { ...file, contents: '' } : file,
      ),
    ),
    outputDirectories: byPath(
      result.outputDirectories.map((directory) => {
        const isLeftOut = directory.treeDigest && !directories.get(directory.path)?.rootDirectoryDigest
        return { ...directory, rootDirectoryDigest: isLeftOut ? null : directory.rootDirectoryDigest }
      }),
    ),
    outputSymlinks: byPath(result.outputSymlinks),
    outputFileSymlinks: byPath(result.outputFileSymlinks),
    outputDirectorySymlinks: byPath(result.outputDirectorySymlinks),
    stdoutRaw: result.stdoutDigest && isCopyLeftOut(result.stdoutRaw, other?.stdoutRaw) ? '' : result.stdoutRaw,
    stderrRaw: result.stderrDigest && isCopyLeftOut(result.stderrRaw, other?.stderrRaw) ? '' : result.stderrRaw,
  }
}

const isCopyLeftOut = (copy: Buffer, other: Buffer | undefined): boolean => copy.length === 0 || !other?.length

const unworded = <T extends object>(status: T): T => ({ ...status, message: '' })

const byPath = <T extends { readonly path: string }>(outputs: readonly T[]): T[] =>
  [...outputs].sort((a, b) => (a.path < b.path ? -1 : 1))

const [PAGE_SIZE, MOST_PAGES] = [100, 200]

/** What ListOperations returns, page by page; empty if the server does not implement it. */
export const listed = async (exam: Exam): Promise<Operation[]> => {
  const operations: Operation[] = []
  for (let pageToken = '', pages = 0; pages === 0 || pageToken !== ''; pages++) {
    exam.expect(pages < MOST_PAGES, `the last page of operations after at most ${MOST_PAGES}`, 'another one')
    const request = { name: exam.instanceName, pageSize: PAGE_SIZE, pageToken }
    const outcome = await exam.call(methods.listOperations, request)
    if (outcome.code === Code.UNIMPLEMENTED || outcome.code === Code.NOT_FOUND) return []
    exam.expectCode(outcome, 'OK')
    operations.push(...(outcome.responses[0]?.operations ?? []))
    pageToken = outcome.responses[0]?.nextPageToken ?? ''
  }
  return operations
}

/** An action with every kind of output that the server accepts. */
export const everyKind = async (exam: Exam, script = ''): Promise<ActionPlan> => {
  const links = (await takesLinks(exam)) ? ['link'] : []
  return {
    script: `${script} mkdir -p d/e; echo f > d/e/f; echo g > g; chmod +x g; ln -s g link; echo kept; echo err >&2`,
    command: { outputPaths: ['d', 'g', ...links] },
    outputDirectories: ['d'],
  }
}

/**
 * An action whose outputs are named as by clients before 2.1. Symlinks appear in both lists if the server accepts them,
 * with node properties if it supports them.
 */
export const everyLegacyKind = async (exam: Exam): Promise<ActionPlan> => {
  const hasLinks = await takesLinks(exam)
  return {
    script: 'mkdir -p d/e; echo f > d/e/f; echo g > g; ln -s g file; ln -s d dir',
    command: {
      outputFiles: hasLinks ? ['g', 'file'] : ['g'],
      outputDirectories: hasLinks ? ['d', 'dir'] : ['d'],
      outputNodeProperties: exam.capabilities.executionCapabilities?.supportedNodeProperties ?? [],
      outputDirectoryFormat: CommandOutputDirectoryFormat.TREE_AND_DIRECTORY,
    },
  }
}

const takers = new WeakMap<Candidate, Promise<boolean>>()

/**
 * Whether the server accepts symlinks as outputs, asked once a run. OUT-08 and OUT-09 judge this; other rows leave
 * symlinks out.
 */
export const takesLinks = async (exam: Exam): Promise<boolean> => {
  const known = takers.get(exam.candidate) ?? asksForLinks(exam)
  takers.set(exam.candidate, known)
  const takes = await known
  if (!takes) exam.chose('compared without symlinks among the outputs, because the server does not accept them')
  return takes
}

const asksForLinks = async (exam: Exam): Promise<boolean> => {
  const command = { outputPaths: ['link'] }
  const { actionDigest } = await uploadAction(exam, { script: 'echo > f; ln -s f link', command })
  const failure = failureOf(await execute(exam, actionDigest))
  // Any other failure is left to the row that asked first.
  return failure.at !== 'response'
}
