import { shownName } from '../base/shown-name.js'
import { StatusError } from '../base/status-error.js'
import type { ActionResult, Directory } from '../proto/generated/build.bazel.remote.execution.v2.js'
import { Digest } from './digest.js'
import { DigestBatch } from './digest-batch.js'
import type { DigestFunction } from './digest-function.js'
import { isWorkingDirectory, outputPath } from './output-path.js'
import { invalidText, rejectNul } from './root-path.js'

/** Blobs that an ActionResult names. Its trees and directories name further blobs. */
export interface ReferencedBlobs {
  /** Output files, stdout and stderr. */
  readonly blobs: DigestBatch
  /** Blobs that contain a Tree. */
  readonly trees: readonly Digest[]
  /** Blobs that contain a root Directory; all its subdirectories are blobs too. */
  readonly rootDirectories: readonly Digest[]
}

/** Throws INVALID_ARGUMENT that names the field if a digest is missing or malformed. */
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
  return { blobs: DigestBatch.of(blobs), trees, rootDirectories }
}

/** Whether an output path contains `..` and so may leave the working directory. */
export const reachesUp = (result: ActionResult): boolean =>
  OUTPUT_FIELDS.some(([list]) => result[list].some(({ path }) => path.split('/').includes('..')))

/**
 * Throws INVALID_ARGUMENT that names the output if its path is none (`outputPath`) or is the working directory
 * itself, or if a symlink has no target. `cwd` is the working directory, relative to the input root. Only an
 * OutputDirectory may be the working directory itself. A symlink's target may be any path (REAPI
 * OutputDirectory, OutputSymlink).
 */
export const checkOutputs = (result: ActionResult, cwd: string): void => {
  for (const [list, field] of OUTPUT_FIELDS) {
    for (const [index, output] of result[list].entries()) {
      const name = `action_result.${field}[${index}]`
      outputPath(cwd, output.path, `${name}.path`)
      if (list === 'outputDirectories') continue
      const isFile = list === 'outputFiles'
      if (isWorkingDirectory(output.path)) {
        throw invalidText(`${name}.path`, output.path, `expected the path of a ${isFile ? 'file' : 'symlink'}`)
      }
      if ('target' in output) checkTarget(output.target, `${name}.target`)
    }
  }
}

const OUTPUT_FIELDS = [
  ['outputFiles', 'output_files'],
  ['outputDirectories', 'output_directories'],
  ['outputSymlinks', 'output_symlinks'],
  ['outputFileSymlinks', 'output_file_symlinks'],
  ['outputDirectorySymlinks', 'output_directory_symlinks'],
] as const

const checkTarget = (target: string, field: string): void => {
  rejectNul(target, field)
  if (target === '') throw invalidText(field, target, 'expected a path')
}

/** The digests of a Directory's files, without those of its subdirectories. */
export const directoryFiles = ({ files }: Pick<Directory, 'files'>, digestFunction: DigestFunction): Digest[] =>
  files.map(({ name, digest }) => Digest.parse(digest, digestFunction, () => `the digest of file ${shownName(name)}`))
