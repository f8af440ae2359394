import { type Digest, EMPTY_DIGEST, type Exam } from '../exam/exam.js'
import { codec, type Input, type Output } from '../proto/codec.js'
import type { CallSettings, Client, Outcome } from '../wire/client.js'
import * as methods from '../wire/methods.js'

export type ActionResultInput = Input<'build.bazel.remote.execution.v2.ActionResult'>
type Answer = Outcome<Output<'build.bazel.remote.execution.v2.ActionResult'>>
type Hints = { inlineStdout?: boolean; inlineStderr?: boolean; inlineOutputFiles?: readonly string[] }

/** A stored blob to serve as an action nobody ran: a Command and an Action that names it, so that any server takes it. */
export const storedAction = async (exam: Exam): Promise<Digest> => {
  const command = exam.message('build.bazel.remote.execution.v2.Command', {
    arguments: ['/bin/true'],
    environmentVariables: [{ name: 'CONFORMANCE_RUN', value: exam.uuid() }],
  })
  const action = exam.message('build.bazel.remote.execution.v2.Action', {
    commandDigest: exam.digest(command),
    inputRootDigest: EMPTY_DIGEST,
  })
  const [, digest = EMPTY_DIGEST] = await exam.upload(command, action)
  return digest
}

export const update = (
  exam: Exam,
  actionDigest: Digest | null,
  actionResult: ActionResultInput | null,
  more: Input<'build.bazel.remote.execution.v2.UpdateActionResultRequest'> = {},
): Promise<Answer> =>
  exam.call(methods.updateActionResult, { instanceName: exam.instanceName, actionDigest, actionResult, ...more })

export const get = (
  exam: Exam,
  actionDigest: Digest | null,
  hints: Hints = {},
  settings: CallSettings & { readonly client?: Client } = {},
): Promise<Answer> =>
  exam.call(methods.getActionResult, { instanceName: exam.instanceName, actionDigest, ...hints }, settings)

/** A result that was stored under a fresh action, with one output file and stdout in the CAS. */
export const storedResult = async (exam: Exam, content = exam.random(500), stdout = exam.random(60)) => {
  const actionDigest = await storedAction(exam)
  const [fileDigest = EMPTY_DIGEST, stdoutDigest = EMPTY_DIGEST] = await exam.upload(content, stdout)
  const result: ActionResultInput = {
    outputFiles: [{ path: 'out/file', digest: fileDigest, isExecutable: true }],
    stdoutDigest,
    executionMetadata: { worker: 'conformance' },
  }
  exam.expectCode(await update(exam, actionDigest, result), 'OK')
  return { actionDigest, result, fileDigest, stdoutDigest, content, stdout }
}

/** What a result of every kind of output says; its blobs are in the CAS. */
export const everyOutput = async (exam: Exam): Promise<ActionResultInput> => {
  const tree = exam.message('build.bazel.remote.execution.v2.Tree', {
    root: { symlinks: [{ name: exam.uuid(), target: 'x' }] },
  })
  const other = exam.message('build.bazel.remote.execution.v2.Tree', {
    root: { symlinks: [{ name: exam.uuid(), target: 'y' }] },
  })
  const blobs = [500, 60, 70, 80].map((sizeBytes) => exam.random(sizeBytes))
  const [run = EMPTY_DIGEST, plain = EMPTY_DIGEST, stdout = EMPTY_DIGEST, stderr = EMPTY_DIGEST, ...trees] =
    await exam.upload(...blobs, tree, other)
  return {
    outputFiles: [
      { path: 'out/plain', digest: plain },
      { path: 'out/run', digest: run, isExecutable: true },
    ],
    outputDirectories: trees.map((treeDigest, at) => ({ path: `out/dir${at}`, treeDigest })),
    outputSymlinks: [
      { path: 'out/link', target: '../elsewhere' },
      { path: 'out/other', target: 'run' },
    ],
    stdoutDigest: stdout,
    stderrDigest: stderr,
    exitCode: 0,
    executionMetadata: { worker: 'conformance' },
  }
}

/** The result that must be there. */
export const found = (exam: Exam, outcome: Answer): Output<'build.bazel.remote.execution.v2.ActionResult'> => {
  exam.expectCode(outcome, 'OK')
  return exam.present(outcome.responses[0], 'an ActionResult')
}

const resultCodec = codec('build.bazel.remote.execution.v2.ActionResult')

/** What `comparable` has, and all else that a result says of its outputs and of how it came about. */
export const inFull = (result: ActionResultInput): object => {
  const full = resultCodec.decode(resultCodec.encode(result))
  const links = [...full.outputSymlinks, ...full.outputFileSymlinks, ...full.outputDirectorySymlinks]
  const properties = [...full.outputFiles, ...links].map(
    (node) => `${node.path} ${JSON.stringify(node.nodeProperties)}`,
  )
  const { executionMetadata } = full
  return {
    ...comparable(full),
    properties: [...new Set(properties)].sort(),
    trees: full.outputDirectories
      .map(({ path, isTopologicallySorted, rootDirectoryDigest }) => ({
        path,
        isTopologicallySorted,
        rootDirectoryDigest,
      }))
      .sort((a, b) => (a.path < b.path ? -1 : 1)),
    executionMetadata,
  }
}

/** What two equivalent results have in common: all but how they came about, what is inlined, and the order of lists. */
export const comparable = (result: ActionResultInput): object => {
  const digest = (
    of: { readonly hash?: string | undefined; readonly sizeBytes?: number | undefined } | null | undefined,
  ) => (of == null || of.sizeBytes === 0 ? '' : `${of.hash}/${of.sizeBytes}`)
  const links = [
    ...(result.outputSymlinks ?? []),
    ...(result.outputFileSymlinks ?? []),
    ...(result.outputDirectorySymlinks ?? []),
  ]
  return {
    files: (result.outputFiles ?? [])
      .map((file) => `${file.path} ${digest(file.digest)} ${file.isExecutable === true}`)
      .sort(),
    directories: (result.outputDirectories ?? []).map(({ path, treeDigest }) => `${path} ${digest(treeDigest)}`).sort(),
    namedTwice: [result.outputSymlinks, result.outputFileSymlinks, result.outputDirectorySymlinks].flatMap(repeated),
    symlinks: [...new Set(links.map(({ path, target }) => `${path} ${target}`))].sort(),
    exitCode: result.exitCode ?? 0,
    stdout: digest(result.stdoutDigest),
    stderr: digest(result.stderrDigest),
  }
}

const repeated = (links: ActionResultInput['outputSymlinks'] = []): string[] => {
  const paths = links.map(({ path }) => path ?? '')
  return paths.filter((path, at) => paths.indexOf(path) !== at)
}
