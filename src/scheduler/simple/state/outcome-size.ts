import type {
  ActionResultInput,
  ExecuteResponseInput,
} from '../../../proto/generated/build.bazel.remote.execution.v2.js'
import type { Outcome } from '../../request.js'

/** What an operation takes beside what its outcome holds: names, digests, states, timestamps. */
const OPERATION_BYTES = 4096
/** What an entry of a list takes beside its texts: objects, hashes. */
const ENTRY_BYTES = 512

/** What a finished operation takes of memory, roughly and rather too much: encoding its outcome would cost more than the rest. */
export const outcomeBytes = (outcome: Outcome): number =>
  OPERATION_BYTES + ('error' in outcome ? failureBytes(outcome.error) : responseBytes(outcome.response))

/** The fields that a message leaves out may be absent. */
const responseBytes = ({ result, status, message, serverLogs = {} }: ExecuteResponseInput): number =>
  (result ? resultBytes(result) : 0) +
  (status ? failureBytes(status) : 0) +
  textBytes(message) +
  sumOf(Object.keys(serverLogs), textBytes)

const resultBytes = (result: ActionResultInput): number =>
  contentBytes(result.stdoutRaw) +
  contentBytes(result.stderrRaw) +
  sumOf(result.outputFiles, ({ path, contents }) => textBytes(path) + contentBytes(contents)) +
  sumOf(result.outputDirectories, ({ path }) => textBytes(path)) +
  sumOf(result.outputSymlinks, symlinkBytes) +
  sumOf(result.outputFileSymlinks, symlinkBytes) +
  sumOf(result.outputDirectorySymlinks, symlinkBytes) +
  sumOf(result.executionMetadata?.auxiliaryMetadata, ({ value }) => contentBytes(value))

interface Symlink {
  readonly path?: string | undefined
  readonly target?: string | undefined
}

const symlinkBytes = ({ path, target }: Symlink): number => textBytes(path) + textBytes(target)

interface Failure {
  readonly message?: string | undefined
  readonly details?: readonly { readonly value?: Uint8Array | undefined }[] | undefined
}

const failureBytes = ({ message, details }: Failure): number =>
  textBytes(message) + sumOf(details, ({ value }) => contentBytes(value))

const sumOf = <T>(entries: readonly T[] = [], bytesOf: (entry: T) => number): number => {
  let sizeBytes = 0
  for (const entry of entries) sizeBytes += ENTRY_BYTES + bytesOf(entry)
  return sizeBytes
}

const contentBytes = (bytes: Uint8Array | undefined): number => bytes?.length ?? 0

/** V8 keeps two bytes a character for what is not Latin-1. */
const textBytes = (text: string | undefined): number => 2 * (text?.length ?? 0)
