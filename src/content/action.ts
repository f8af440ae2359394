import { StatusError } from '../base/status-error.js'
import type { Store } from '../blobs/store.js'
import { type Codec, codec } from '../proto/codec.js'
import type { Action, Command } from '../proto/generated/build.bazel.remote.execution.v2.js'
import type { Digest } from '../reapi/digest.js'
import type { Call } from '../rpc/call.js'
import { readBlob } from './read-blob.js'

const actionCodec = codec('build.bazel.remote.execution.v2.Action')
const commandCodec = codec('build.bazel.remote.execution.v2.Command')

/**
 * Actions and Commands are read into memory, so larger ones are rejected. Bazel's longest command lines take a few MiB.
 */
const MAX_MESSAGE_BYTES = 64 * 1024 * 1024

/** NOT_FOUND when it is absent, INVALID_ARGUMENT when the blob is not an Action. */
export const readAction = (cas: Store, digest: Digest, call: Call): Promise<Action> =>
  readMessage(cas, digest, actionCodec, 'Action', call)

/** NOT_FOUND when it is absent, INVALID_ARGUMENT when the blob is not a Command. */
export const readCommand = (cas: Store, digest: Digest, call: Call): Promise<Command> =>
  readMessage(cas, digest, commandCodec, 'Command', call)

const readMessage = async <T>(
  cas: Store,
  digest: Digest,
  messages: Codec<never, T>,
  what: string,
  call: Call,
): Promise<T> => {
  if (digest.sizeBytes > MAX_MESSAGE_BYTES) {
    const expected = `expected at most ${MAX_MESSAGE_BYTES} bytes`
    throw new StatusError('INVALID_ARGUMENT', `${what} ${digest.key} is too large, ${expected}`)
  }
  try {
    return messages.decode(await readBlob(cas, digest, call))
  } catch (error) {
    throw StatusError.from(error).withPrefix(`${what} ${digest.key}`)
  }
}
