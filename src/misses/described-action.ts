import { LruCache } from '../base/lru-cache.js'
import { isStatus } from '../base/status-error.js'
import type { Store } from '../blobs/store.js'
import { readAction, readCommand } from '../content/action.js'
import type { Action, Command } from '../proto/generated/build.bazel.remote.execution.v2.js'
import { Digest } from '../reapi/digest.js'
import type { Call } from '../rpc/call.js'

/** An Action of the CAS with its Command. */
export interface DescribedAction {
  readonly digest: Digest
  readonly action: Action
  readonly command: Command
}

/** The output paths that a Command requests, sorted; those of older clients too. */
export const outputPathsOf = ({
  outputPaths,
  outputFiles,
  outputDirectories,
}: Pick<Command, 'outputPaths' | 'outputFiles' | 'outputDirectories'>): readonly string[] =>
  (outputPaths.length > 0 ? [...outputPaths] : [...outputFiles, ...outputDirectories]).sort()

/** Actions that were read for one page. A larger sum is read again. */
const KEPT_BYTES = 32 * 1024 * 1024
const OVERHEAD_BYTES = 1024

/** Reads Actions with their Commands, each once. */
export class DescribedActions {
  readonly #cas: Store
  readonly #call: Call
  readonly #known = new LruCache<Promise<DescribedAction | undefined>>(KEPT_BYTES)

  constructor(cas: Store, call: Call) {
    this.#cas = cas
    this.#call = call
  }

  /** Undefined if the CAS lacks the Action or its Command, or if the digest is that of something else. */
  find(digest: Digest): Promise<DescribedAction | undefined> {
    const known = this.#known.get(digest.key)
    if (known !== undefined) return known
    const read = this.#read(digest)
    this.#known.set(digest.key, read, OVERHEAD_BYTES)
    return read
  }

  async #read(digest: Digest): Promise<DescribedAction | undefined> {
    try {
      const action = await readAction(this.#cas, digest, this.#call)
      const commandDigest = Digest.parse(action.commandDigest, digest.function, 'command_digest')
      const described = { digest, action, command: await readCommand(this.#cas, commandDigest, this.#call) }
      this.#known.set(digest.key, Promise.resolve(described), OVERHEAD_BYTES + 2 * commandDigest.sizeBytes)
      return described
    } catch (error) {
      if (isStatus(error, 'NOT_FOUND') || isStatus(error, 'INVALID_ARGUMENT')) return undefined
      throw error
    }
  }
}
