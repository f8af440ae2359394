import { type Digest, EMPTY_DIGEST, type Exam } from '../exam/exam.js'
import { codec, type Input, type Output } from '../proto/codec.js'
import type { CallSettings, Client, Outcome } from '../wire/client.js'
import * as methods from '../wire/methods.js'

export type ActionResultInput = Input<'build.bazel.remote.execution.v2.ActionResult'>
type Answer = Outcome<Output<'build.bazel.remote.execution.v2.ActionResult'>>
type Hints = { inlineStdout?: boolean; inlineStderr?: boolean; inlineOutputFiles?: readonly string[] }

/**
 * Stores a blob that serves as an action: a Command and an Action that names it, so that any server accepts it. No
 * server has run it.
 */
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

/** Stores a result under a fresh action, with one output file and stdout in the CAS. */
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

/** A result with every kind of output; its blobs are in the CAS. */
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

/** Returns the cached result, which must exist. */
export const found = (exam: Exam, outcome: Answer): Output<'build.bazel.remote.execution.v2.ActionResult'> => {
  exam.expectCode(outcome, 'OK')
  return exam.present(outcome.responses[0], 'an ActionResult')
}

const resultCodec = codec('build.bazel.remote.execution.v2.ActionResult')

/** The fields of `comparable`, plus the other facts about outputs and execution. */
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

/** The fields that equivalent results share: without execution metadata, inlined content, and the order of lists. */
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
