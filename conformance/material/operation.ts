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

// Operations as more than one method tells of them.

const metadataCodec = codec('build.bazel.remote.execution.v2.ExecuteOperationMetadata')
const responseCodec = codec('build.bazel.remote.execution.v2.ExecuteResponse')

/** That both tell the same of an operation: the name, whether it is done, the metadata, and what it came to, with its times. */
export const expectTold = (
  exam: Exam,
  found: Operation | undefined,
  expected: Operation | undefined,
  what: string,
): void => exam.expectEqual(found && told(found, expected), expected && told(expected, found), what)

/**
 * What an Operation tells, taken out of its packing. How it was serialized, the order of outputs and text for people do not
 * matter, nor a copy, beside the digest of what it copies, that only one of the two has.
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

/** What ListOperations has, page by page; nothing where it is not there. */
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

/** An action with outputs of every kind that the server takes. */
export const everyKind = async (exam: Exam, script = ''): Promise<ActionPlan> => {
  const links = (await takesLinks(exam)) ? ['link'] : []
  return {
    script: `${script} mkdir -p d/e; echo f > d/e/f; echo g > g; chmod +x g; ln -s g link; echo kept; echo err >&2`,
    command: { outputPaths: ['d', 'g', ...links] },
    outputDirectories: ['d'],
  }
}

/**
 * An action with outputs as a client of before 2.1 names them, links in both lists if the server takes them, with what it knows of
 * nodes beside them.
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
 * Whether the server ends well with symlinks for outputs, asked once a run: OUT-08 and OUT-09 tell of it, and rows about something
 * else do without them.
 */
export const takesLinks = async (exam: Exam): Promise<boolean> => {
  const known = takers.get(exam.candidate) ?? asksForLinks(exam)
  takers.set(exam.candidate, known)
  const takes = await known
  if (!takes) exam.chose('looked at without symlinks among the outputs, which the server does not take')
  return takes
}

const asksForLinks = async (exam: Exam): Promise<boolean> => {
  const command = { outputPaths: ['link'] }
  const { actionDigest } = await uploadAction(exam, { script: 'echo > f; ln -s f link', command })
  const failure = failureOf(await execute(exam, actionDigest))
  // Another failure than one of the action is for the row that asked first to find by itself.
  return failure.at !== 'response'
}
