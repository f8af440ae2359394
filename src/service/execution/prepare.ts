import type { Call } from '../../base/call.js'
import type { LruCache } from '../../base/lru-cache.js'
import { isStatus } from '../../base/status-error.js'
import { codec } from '../../proto/codec.js'
import type { Action, Command } from '../../proto/generated/build.bazel.remote.execution.v2.js'
import { actionTimeoutMs, missingBlobs } from '../../reapi/action.js'
import { validateCommand, workingDirectory } from '../../reapi/command.js'
import { Digest } from '../../reapi/digest.js'
import { type PlatformProperty, requestedProperties } from '../../reapi/platform.js'
import { readAction, readCommand } from '../../store/content/action.js'
import type { DirectoryTrees } from '../../store/content/directory-trees.js'
import { missingOf } from '../../store/store.js'
import type { ExecutionInstance } from './instance.js'
import { missingInputs } from './missing-inputs.js'

export interface PreparedAction {
  /** Its bytes, where they are few. */
  readonly actionBytes?: Buffer | undefined
  readonly doNotCache: boolean
  readonly properties: readonly PlatformProperty[]
  /** Of its command. */
  readonly workingDirectory?: string
}

const actionCodec = codec('build.bazel.remote.execution.v2.Action')

/** Larger ones would take too much memory while many wait: their workers read them. */
const MAX_PASSED_ON_BYTES = 4096

/**
 * Reads an action and checks everything that can be known without running it. INVALID_ARGUMENT says what is wrong with
 * it; FAILED_PRECONDITION lists the blobs found missing. The tree below the input root is looked into only when
 * something is missing anyway: otherwise that is the worker's, which has to read it all. `commands` are valid ones that
 * were read lately, by digest; the store is asked whether it still has them.
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
  if (missing.length > 0) throw missingBlobs(await missingInputs(missing, inputRoot, { cas, trees, call }))
  const command =
    commands.get(commandDigest.key) ?? (await orMissing(readCommand(cas, commandDigest, call), commandDigest))
  const prepared = await check(action, command, { scheduler, maxTimeoutMs })
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

/** `read`, where an absent blob is one that the client has to upload. */
const orMissing = async <T>(read: Promise<T>, digest: Digest): Promise<T> => {
  try {
    return await read
  } catch (error) {
    if (isStatus(error, 'NOT_FOUND')) throw missingBlobs([digest])
    throw error
  }
}
