import type { Call } from '../../base/call.js'
import type { LruCache } from '../../base/lru-cache.js'
import { isStatus, StatusError } from '../../base/status-error.js'
import { codec } from '../../proto/codec.js'
import type { Action, Command } from '../../proto/generated/build.bazel.remote.execution.v2.js'
import { actionTimeoutMs, missingBlobs } from '../../reapi/action.js'
import { validateCommand } from '../../reapi/command.js'
import { Digest } from '../../reapi/digest.js'
import { type PlatformProperty, requestedProperties } from '../../reapi/platform.js'
import type { Store } from '../../store/store.js'
import { readBlob } from '../blob.js'
import type { ExecutionInstance } from './instance.js'
import { missingInputs } from './missing-inputs.js'

const actionCodec = codec('build.bazel.remote.execution.v2.Action')
const commandCodec = codec('build.bazel.remote.execution.v2.Command')

/** Actions and Commands are read whole: a larger one is refused. Bazel's longest command lines take a few MiB. */
const MAX_MESSAGE_BYTES = 64 * 1024 * 1024

export interface PreparedAction {
  readonly doNotCache: boolean
  readonly properties: readonly PlatformProperty[]
}

/**
 * Reads an action and checks everything that can be known without running it. INVALID_ARGUMENT says what is wrong with
 * it; FAILED_PRECONDITION lists every blob found missing. The tree below the input root is looked into only when
 * something is missing anyway: otherwise that is the worker's, which has to read it all. `commands` are valid ones that
 * were read lately, by digest; the store is asked whether it still has them.
 */
export const prepareAction = async (
  { cas, scheduler, maxTimeoutMs }: Pick<ExecutionInstance, 'cas' | 'scheduler' | 'maxTimeoutMs'>,
  actionDigest: Digest,
  commands: LruCache<Command>,
  call: Call,
): Promise<PreparedAction> => {
  const action = await readMessage(cas, actionDigest, (bytes) => actionCodec.decode(bytes), 'Action', call)
  const commandDigest = part(action, 'commandDigest', actionDigest)
  const inputRoot = part(action, 'inputRootDigest', actionDigest)
  const missing = await cas.findMissing([commandDigest, inputRoot], call)
  if (missing.length > 0) throw missingBlobs(await missingInputs(cas, missing, inputRoot, call))
  const command =
    commands.get(commandDigest.key) ??
    (await readMessage(cas, commandDigest, (bytes) => commandCodec.decode(bytes), 'Command', call))
  const prepared = check(action, command, { scheduler, maxTimeoutMs })
  commands.set(commandDigest.key, command, commandDigest.sizeBytes)
  return prepared
}

const check = (
  action: Action,
  command: Command,
  { scheduler, maxTimeoutMs }: Pick<ExecutionInstance, 'scheduler' | 'maxTimeoutMs'>,
): PreparedAction => {
  validateCommand(command)
  actionTimeoutMs(action, maxTimeoutMs)
  const properties = requestedProperties(action, command)
  scheduler.checkPlatform(properties)
  return { doNotCache: action.doNotCache, properties }
}

const part = (action: Action, field: 'commandDigest' | 'inputRootDigest', { function: of, key }: Digest): Digest =>
  Digest.parse(
    action[field],
    of,
    `Action ${key}: ${field === 'commandDigest' ? 'command_digest' : 'input_root_digest'}`,
  )

const readMessage = async <T>(
  cas: Store,
  digest: Digest,
  decode: (bytes: Buffer) => T,
  what: string,
  call: Call,
): Promise<T> => {
  if (digest.sizeBytes > MAX_MESSAGE_BYTES) {
    const expected = `expected at most ${MAX_MESSAGE_BYTES} bytes`
    throw new StatusError('INVALID_ARGUMENT', `${what} ${digest.key} is too large, ${expected}`)
  }
  try {
    return decode(await readBlob(cas, digest, call))
  } catch (error) {
    if (isStatus(error, 'NOT_FOUND')) throw missingBlobs([digest])
    throw StatusError.from(error).withPrefix(`${what} ${digest.key}`)
  }
}
