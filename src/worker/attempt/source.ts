import { LruCache } from '../../base/lru-cache.js'
import { orAbsent } from '../../base/status-error.js'
import { missingOf, type Store } from '../../blobs/store.js'
import { readAction, readCommand } from '../../content/action.js'
import { codec } from '../../proto/codec.js'
import type { Action, Command } from '../../proto/generated/build.bazel.remote.execution.v2.js'
import { missingBlobs } from '../../reapi/action.js'
import { validateCommand } from '../../reapi/command.js'
import { Digest } from '../../reapi/digest.js'
import type { Directory } from '../../reapi/directory.js'
import type { Call } from '../../rpc/call.js'
import type { InputTree } from '../input/merkle-tree.js'
import { readInputTree } from '../input/tree.js'

const actionCodec = codec('build.bazel.remote.execution.v2.Action')

/** The messages that define an attempt, read from the CAS. */
export interface ActionSource {
  readonly action: Action
  readonly command: Command
  readonly commandDigest: Digest
  readonly rootDigest: Digest
  readonly tree: InputTree
}

export interface ActionNamed {
  readonly digest: Digest
  /** The encoded Action, if known. */
  readonly bytes?: Buffer | undefined
  /** Returns the tree of an input root, if known. */
  readonly treeOf?: (root: Digest) => InputTree | undefined
}

/**
 * Recently read Commands and Directories by digest, only valid ones. The actions of a build share most of them. The
 * store may have lost a blob that is cached here.
 */
export class KnownSources {
  readonly commands = new LruCache<Command>(KNOWN_BYTES)
  readonly directories = new LruCache<Directory>(KNOWN_BYTES)
}

/** Counted in bytes of the encoded messages; the parsed ones take up to ten times as much. */
const KNOWN_BYTES = 4 * 1024 * 1024

/**
 * Reads an action (unless `bytes` is given), its Command and its input tree. INVALID_ARGUMENT for malformed messages.
 * FAILED_PRECONDITION if the Action is missing. A missing Command is listed together with the missing inputs, so that
 * the client learns of all at once.
 */
export const readActionSource = async (
  { digest, bytes, treeOf }: ActionNamed,
  store: Store,
  known: KnownSources,
  call: Call,
): Promise<ActionSource> => {
  const action = bytes === undefined ? await orAbsent(readAction(store, digest, call)) : actionCodec.decode(bytes)
  if (action === undefined) throw missingBlobs([digest])
  const commandDigest = Digest.parse(action.commandDigest, digest.function, 'Action.command_digest')
  const rootDigest = Digest.parse(action.inputRootDigest, digest.function, 'Action.input_root_digest')
  const [command, tree] = await Promise.all([
    known.commands.get(commandDigest.key) ?? orAbsent(readCommand(store, commandDigest, call)),
    treeOf?.(rootDigest) ?? readInputTree(rootDigest, store, known.directories, call),
  ])
  if (command === undefined) {
    const absent = await missingOf(store, tree.blobs, call)
    throw missingBlobs(unique([commandDigest, ...tree.missing, ...absent]))
  }
  validateCommand(command)
  known.commands.set(commandDigest.key, command, commandDigest.sizeBytes)
  return { action, command, commandDigest, rootDigest, tree }
}

const unique = (digests: readonly Digest[]): Digest[] => [
  ...new Map(digests.map((digest) => [digest.key, digest])).values(),
]
