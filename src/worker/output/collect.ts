import { mkdirSync, readlinkSync, realpathSync, type Stats } from 'node:fs'
import { dirname, relative } from 'node:path'
import { fileFailure } from '../../base/errno.js'
import { StatusError } from '../../base/status-error.js'
import {
  type ActionResultInput,
  type Command,
  CommandOutputDirectoryFormat,
  type OutputDirectoryInput,
  type OutputFileInput,
  type OutputSymlinkInput,
} from '../../proto/generated/build.bazel.remote.execution.v2.js'
import { type RequestedOutput, requestedOutputs } from '../../reapi/command.js'
import { isDirectoryInside, statsOf, targetOf } from '../disk/inside-root.js'
import { readOutputDirectory } from './directory.js'
import { type HashOptions, hashFile, nodePropertiesOf, type OutputBlob } from './file.js'
import type { LinkTargets } from './links.js'
import { textOf } from './utf8.js'

/** The outputs of an ActionResult and the blobs it refers to. */
export interface CollectedOutputs {
  readonly result: Pick<ActionResultInput, 'outputFiles' | 'outputDirectories' | 'outputSymlinks'> &
    Pick<ActionResultInput, 'outputFileSymlinks' | 'outputDirectorySymlinks'>
  readonly blobs: readonly OutputBlob[]
}

export interface CollectOptions extends HashOptions {
  readonly links: LinkTargets
}

/** Creates the parent directories of outputs, and no others, before the command runs (REAPI Command.output_paths). */
export const makeOutputParents = (command: Command, root: string): void => {
  const made = new Set<string>([''])
  for (const { path, rootPath } of requestedOutputs(command)) {
    if (rootPath === '') continue
    const missing: string[] = []
    for (let parent = parentOf(rootPath); !made.has(parent); parent = parentOf(parent)) {
      made.add(parent)
      missing.push(parent)
    }
    for (const parent of missing.reverse()) makeParent(path, parent, root)
  }
}

const makeParent = (output: string, parent: string, root: string): void => {
  const found = statsOf(`${root}/${parent}`)
  if (found === undefined) mkdirSync(`${root}/${parent}`)
  else if (!found.isDirectory() && !(found.isSymbolicLink() && isDirectoryInside(parent, root))) {
    const message = `output ${JSON.stringify(output)}: ${JSON.stringify(parent)} is not a directory of the input root`
    throw new StatusError('FAILED_PRECONDITION', message)
  }
}

/**
 * Finds and hashes the declared outputs; outputs that do not exist are left out. Rejects with FAILED_PRECONDITION if a
 * legacy field names the wrong kind (REAPI Command.output_files) or a symlink leads out of the input root. Rejects with
 * RESOURCE_EXHAUSTED if `sizes` refuses a file, and with the status of the signal once that aborts.
 */
export const collectOutputs = async (
  command: Command,
  root: string,
  options: CollectOptions,
): Promise<CollectedOutputs> => {
  const collector = new Collector(command, root, options)
  for (const output of requestedOutputs(command)) {
    try {
      await collector.add(output)
    } catch (error) {
      const what = `output ${JSON.stringify(output.path)}`
      const failure = fileFailure(error, what)
      throw failure === error ? failure.withPrefix(what) : failure
    }
  }
  return collector
}

/**
 * Reports each output by its actual kind. A directory at a path of the legacy `output_files` is reported as an output
 * directory, although REAPI requires FAILED_PRECONDITION. The reason: Bazel before 7 lists every output there and
 * accepts a directory.
 */
class Collector implements CollectedOutputs {
  readonly blobs: OutputBlob[] = []
  readonly result = {
    outputFiles: [] as OutputFileInput[],
    outputDirectories: [] as OutputDirectoryInput[],
    outputSymlinks: [] as OutputSymlinkInput[],
    outputFileSymlinks: [] as OutputSymlinkInput[],
    outputDirectorySymlinks: [] as OutputSymlinkInput[],
  }
  readonly #command: Command
  readonly #root: string
  readonly #options: Parameters<typeof readOutputDirectory>[1]
  readonly #insideParents = new Set<string>([''])

  constructor(command: Command, root: string, options: CollectOptions) {
    this.#command = command
    this.#root = root
    this.#options = { ...options, properties: command.outputNodeProperties }
  }

  async add(output: RequestedOutput): Promise<void> {
    const { path, rootPath, kind } = output
    // The root may be a symlink of /proc. It is the directory itself only with a trailing slash.
    const absolute = `${this.#root}/${rootPath === '' ? '.' : rootPath}`
    const stats = statsOf(absolute)
    if (stats === undefined) return
    this.#rejectOutside(rootPath)
    if (stats.isSymbolicLink()) this.#addSymlink(output, absolute, stats)
    else if (stats.isDirectory()) await this.#addDirectory(path, absolute)
    else if (stats.isFile()) {
      if (kind === 'directory') throw notDirectory()
      await this.#addFile(path, absolute)
    }
  }

  async #addFile(path: string, absolute: string): Promise<void> {
    const file = await hashFile(absolute, this.#options)
    if (file === undefined) return
    this.blobs.push(file)
    this.result.outputFiles.push({
      path,
      digest: file.digest.toMessage(),
      isExecutable: (file.stats.mode & 0o100) !== 0,
      nodeProperties: nodePropertiesOf(file.stats, this.#options.properties),
    })
  }

  async #addDirectory(path: string, absolute: string): Promise<void> {
    const { tree, blobs } = await readOutputDirectory(absolute, this.#options, () => this.#insideOf(absolute))
    this.blobs.push(...blobs)
    const { outputDirectoryFormat: format } = this.#command
    const directory: OutputDirectoryInput = { path }
    if (format !== CommandOutputDirectoryFormat.DIRECTORY_ONLY) {
      const { digest, bytes } = tree.tree()
      this.blobs.push({ digest, source: bytes })
      directory.treeDigest = digest.toMessage()
      directory.isTopologicallySorted = true
    }
    if (format === CommandOutputDirectoryFormat.DIRECTORY_ONLY || format === TREE_AND_DIRECTORY) {
      const directories = tree.directories()
      for (const { digest, bytes } of directories) this.blobs.push({ digest, source: bytes })
      directory.rootDirectoryDigest = directories.at(-1)?.digest.toMessage()
    }
    this.result.outputDirectories.push(directory)
  }

  #addSymlink({ path, kind }: RequestedOutput, absolute: string, stats: Stats): void {
    const nodeProperties = nodePropertiesOf(stats, this.#options.properties)
    const found = textOf(readlinkSync(absolute, 'buffer'), 'symlink target')
    const target = this.#options.links.resultOf(found, () => this.#insideOf(dirname(absolute)))
    const symlink = { path, target, nodeProperties }
    this.result.outputSymlinks.push(symlink)
    if (kind === 'any') return
    const isDirectory = targetOf(absolute)?.isDirectory() ?? kind === 'directory'
    if (isDirectory) this.result.outputDirectorySymlinks.push(symlink)
    else this.result.outputFileSymlinks.push(symlink)
  }

  /** The path of a directory relative to the input root, without symlinks. */
  #insideOf(directory: string): string {
    return relative(realpathSync.native(`${this.#root}/.`), realpathSync.native(directory))
  }

  #rejectOutside(rootPath: string): void {
    const parent = parentOf(rootPath)
    if (this.#insideParents.has(parent)) return
    if (!isDirectoryInside(parent, this.#root)) {
      throw new StatusError('FAILED_PRECONDITION', `${JSON.stringify(parent)} leads out of the input root`)
    }
    this.#insideParents.add(parent)
  }
}

const { TREE_AND_DIRECTORY } = CommandOutputDirectoryFormat

const notDirectory = (): StatusError =>
  new StatusError('FAILED_PRECONDITION', 'the command made a file there, expected a directory')

const parentOf = (path: string): string => {
  const parent = dirname(path)
  return parent === '.' ? '' : parent
}
