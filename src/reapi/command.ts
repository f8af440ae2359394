import { StatusError } from '../base/status-error.js'
import type { Command } from '../proto/generated/build.bazel.remote.execution.v2.js'
import { isWorkingDirectory, outputPath } from './output-path.js'
import { insideRoot, invalidText, rejectNul } from './root-path.js'

/** Node properties that workers apply to inputs and report for outputs. ExecutionCapabilities announces them. */
export const SUPPORTED_NODE_PROPERTIES: readonly string[] = ['mtime', 'unix_mode']

/** An output that a Command requests. */
export interface RequestedOutput {
  /** As the client sent it: relative to the working directory; `""` is the working directory itself. */
  readonly path: string
  /** The path relative to the input root, without `.` and `..`; `""` is the input root. */
  readonly rootPath: string
  /** `any` for output_paths; the legacy fields state the type. */
  readonly kind: 'any' | 'file' | 'directory'
}

/** Throws INVALID_ARGUMENT for a command that no worker can run as requested. */
export const validateCommand = (command: Command): void => {
  if (command.arguments.length === 0 || command.arguments[0] === '') {
    throw invalid('Command.arguments is empty, expected the program and its arguments')
  }
  for (const argument of command.arguments) rejectNul(argument, 'Command.arguments')
  for (const { name, value } of command.environmentVariables) {
    rejectNul(name, 'Command.environment_variables')
    rejectNul(value, `Command.environment_variables ${quoted(name)}`)
    if (name === '' || name.includes('=')) {
      throw invalid(`Command.environment_variables: name ${quoted(name)} is not valid, expected a name without "="`)
    }
  }
  for (const property of command.outputNodeProperties) {
    if (SUPPORTED_NODE_PROPERTIES.includes(property)) continue
    const expected = `expected ${SUPPORTED_NODE_PROPERTIES.join(' or ')}`
    throw invalid(`Command.output_node_properties: ${quoted(property)} is not supported, ${expected}`)
  }
  requestedOutputs(command)
}

/** The working directory relative to the input root, without `.` and `..`; `""` is the input root. */
export const workingDirectory = (command: Command): string =>
  insideRoot('', command.workingDirectory, 'Command.working_directory')

/**
 * Outputs to collect after the run, each path once. The legacy fields count only if output_paths is empty
 * (REAPI Command.output_paths). Throws INVALID_ARGUMENT for paths that are none (`outputPath`).
 */
export const requestedOutputs = (command: Command): RequestedOutput[] => {
  const cwd = workingDirectory(command)
  if (command.outputPaths.length > 0) {
    return unique(command.outputPaths).map((path) => requested(cwd, path, 'any', 'Command.output_paths'))
  }
  return [
    ...unique(command.outputFiles).map((path) => requested(cwd, path, 'file', 'Command.output_files')),
    ...unique(command.outputDirectories).map((path) => requested(cwd, path, 'directory', 'Command.output_directories')),
  ]
}

const requested = (cwd: string, path: string, kind: RequestedOutput['kind'], field: string): RequestedOutput => {
  const rootPath = outputPath(cwd, path, field)
  if (kind === 'file' && isWorkingDirectory(path)) throw invalidText(field, path, 'expected the path of a file')
  return { path, rootPath, kind }
}

const unique = (paths: readonly string[]): readonly string[] => (paths.length < 2 ? paths : [...new Set(paths)])

const quoted = (text: string): string => JSON.stringify(text.length > 200 ? `${text.slice(0, 200)}...` : text)

const invalid = (message: string): StatusError => new StatusError('INVALID_ARGUMENT', message)
