import type { LruCache } from '../../base/lru-cache.js'
import { isStatus } from '../../base/status-error.js'
import { missingOf } from '../../blobs/store.js'
import { readAction, readCommand } from '../../content/action.js'
import type { DirectoryTrees } from '../../content/directory-trees.js'
import { codec } from '../../proto/codec.js'
import type { Action, Command } from '../../proto/generated/build.bazel.remote.execution.v2.js'
import { actionTimeoutMs, missingBlobs } from '../../reapi/action.js'
import { validateCommand, workingDirectory } from '../../reapi/command.js'
import { Digest } from '../../reapi/digest.js'
import { type PlatformProperty, requestedProperties } from '../../reapi/platform.js'
import type { RootFacts } from '../../reapi/root-keys.js'
import type { Call } from '../../rpc/call.js'
import type { ExecutionInstance } from './instance.js'
import { missingInputsError } from './missing-inputs.js'

export interface PreparedAction {
  /** The encoded Action, if it is small. */
  readonly actionBytes?: Buffer | undefined
  readonly doNotCache: boolean
  readonly properties: readonly PlatformProperty[]
  /** The working directory of its Command. */
  readonly workingDirectory?: string
  /** What names its input root (`reapi/root-keys.ts`), without the caller. */
  readonly inputs?: ActionInputs
}

export type ActionInputs = Pick<RootFacts, 'inputRoot' | 'command' | 'program'>

const actionCodec = codec('build.bazel.remote.execution.v2.Action')

/** Larger Actions are read by the worker, because many queued ones would take too much memory. */
const MAX_PASSED_ON_BYTES = 4096

/**
 * Reads an action and validates it as far as possible without running it. INVALID_ARGUMENT describes what is wrong;
 * FAILED_PRECONDITION lists missing blobs. The tree below the input root is read only if another blob is missing,
 * because the worker reads the tree anyway. `commands` caches valid Commands by digest; the store is still asked
 * whether it has them.
 */
export const prepareAction = async (
  { cas, scheduler, maxTimeoutMs }: Pick<ExecutionInstance, 'cas' | 'scheduler' | 'maxTimeoutMs'>,
  actionDigest: Digest,
  { commands, trees }: { readonly commands: LruCache<Command>; readonly trees: DirectoryTrees },
  call: Call,
): Promise<PreparedAction> => {
  const action = await orMissing(readAction(cas, actionDigest, call), actionDigest)
  const commandDigest = part(action, 'commandDigest', actionDigest)
  const inputRoot = part(action, 'inputRootDigest', actionDigest)
  const missing = await missingOf(cas, [commandDigest, inputRoot], call)
  if (missing.length > 0) throw await missingInputsError(missing, inputRoot, { cas, trees, call })
  const command =
    commands.get(commandDigest.key) ?? (await orMissing(readCommand(cas, commandDigest, call), commandDigest))
  const inputs = { inputRoot, command: commandDigest, program: command.arguments[0] ?? '' }
  const prepared = { ...(await check(action, command, { scheduler, maxTimeoutMs })), inputs }
  commands.set(commandDigest.key, command, commandDigest.sizeBytes)
  return actionDigest.sizeBytes > MAX_PASSED_ON_BYTES
    ? prepared
    : { ...prepared, actionBytes: actionCodec.encode(action) }
}

const check = async (
  action: Action,
  command: Command,
  { scheduler, maxTimeoutMs }: Pick<ExecutionInstance, 'scheduler' | 'maxTimeoutMs'>,
): Promise<PreparedAction> => {
  validateCommand(command)
  actionTimeoutMs(action, maxTimeoutMs)
  const properties = requestedProperties(action, command)
  await scheduler.checkPlatform(properties)
  return { doNotCache: action.doNotCache, properties, workingDirectory: workingDirectory(command) }
}

const part = (action: Action, field: 'commandDigest' | 'inputRootDigest', { function: of, key }: Digest): Digest =>
  Digest.parse(
    action[field],
    of,
    `Action ${key}: ${field === 'commandDigest' ? 'command_digest' : 'input_root_digest'}`,
  )

/** Turns NOT_FOUND of `read` into the error that asks the client to upload the blob. */
const orMissing = async <T>(read: Promise<T>, digest: Digest): Promise<T> => {
  try {
    return await read
  } catch (error) {
    if (isStatus(error, 'NOT_FOUND')) throw missingBlobs([digest])
    throw error
  }
}
