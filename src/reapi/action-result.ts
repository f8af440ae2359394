import { StatusError } from '../base/status-error.js'
import type { ActionResult, Directory, Tree } from '../proto/generated/build.bazel.remote.execution.v2.js'
import { Digest } from './digest.js'
import type { DigestFunction } from './digest-function.js'

/** The blobs an ActionResult names. Those of trees and directories name more. */
export interface ReferencedBlobs {
  /** Output files, stdout and stderr. */
  readonly blobs: readonly Digest[]
  /** Blobs that are a Tree. */
  readonly trees: readonly Digest[]
  /** Blobs that are the root Directory of a tree whose every Directory is a blob. */
  readonly rootDirectories: readonly Digest[]
}

/** INVALID_ARGUMENT names the field whose digest is missing or malformed. */
export const referencedBlobs = (result: ActionResult, digestFunction: DigestFunction): ReferencedBlobs => {
  const blobs = result.outputFiles.map(({ digest }, index) =>
    Digest.parse(digest, digestFunction, `action_result.output_files[${index}].digest`),
  )
  const { stdoutDigest, stderrDigest } = result
  if (stdoutDigest !== null) blobs.push(Digest.parse(stdoutDigest, digestFunction, 'action_result.stdout_digest'))
  if (stderrDigest !== null) blobs.push(Digest.parse(stderrDigest, digestFunction, 'action_result.stderr_digest'))

  const trees: Digest[] = []
  const rootDirectories: Digest[] = []
  for (const [index, { treeDigest, rootDirectoryDigest }] of result.outputDirectories.entries()) {
    const field = `action_result.output_directories[${index}]`
    if (treeDigest === null && rootDirectoryDigest === null) {
      throw new StatusError('INVALID_ARGUMENT', `${field} has neither tree_digest nor root_directory_digest`)
    }
    if (treeDigest !== null) trees.push(Digest.parse(treeDigest, digestFunction, `${field}.tree_digest`))
    if (rootDirectoryDigest === null) continue
    rootDirectories.push(Digest.parse(rootDirectoryDigest, digestFunction, `${field}.root_directory_digest`))
  }
  return { blobs, trees, rootDirectories }
}

/** The files of a Directory; its subdirectories are not followed. */
export const directoryFiles = ({ files }: Directory, digestFunction: DigestFunction): Digest[] =>
  files.map(({ name, digest }) => Digest.parse(digest, digestFunction, `the digest of file ${JSON.stringify(name)}`))

/** Every file of a Tree. Its directories are part of it and need not be blobs. */
export const treeFiles = ({ root, children }: Tree, digestFunction: DigestFunction): Digest[] => {
  const directories = root === null ? children : [root, ...children]
  return directories.flatMap((directory) => directoryFiles(directory, digestFunction))
}
