import type { PrivateCopies } from '../../blobs/local-file.js'
import type { Sandbox } from '../command/sandbox.js'

/** Commands of root can write to read-only files, so that a link to the only copy of a blob could cost the blob. */
export const privateCopies = (sandbox: Sandbox | undefined): PrivateCopies => {
  if (sandbox?.givesCopies === true) return 'all'
  return sandbox?.protectsInputs !== true && process.geteuid?.() === 0 ? 'sole' : 'none'
}

/**
 * A process that stays up can write to its whole root, because mounts cannot be changed once it runs. In a file system of its own it
 * therefore gets copies: that it cannot change a file of the store must not depend on it.
 */
export const privateCopiesOfProcess = (sandbox: Sandbox | undefined): PrivateCopies =>
  sandbox?.protectsInputs === true ? 'all' : privateCopies(sandbox)
