import type { Store } from '../../blobs/store.js'
import type { Call } from '../../rpc/call.js'
import { changedInputs } from '../input/changed.js'
import type { InputLink } from '../input/root.js'

/** Where the links are; `root` is undefined if it is gone or nothing has to be looked at. */
export interface LinksThere {
  readonly root: string | undefined
  /** When the links were made, or looked at last. */
  readonly sinceMs: number
  readonly store: Store
}

/** Whether a command wrote to files of the store through its links. The store drops them. */
export const droppedInputs = async (
  links: () => readonly InputLink[],
  { root, sinceMs, store }: LinksThere,
  call: Call,
): Promise<boolean> => {
  const changed = root === undefined ? [] : await changedInputs(links(), root, sinceMs, store, call)
  for (const digest of changed) {
    call.log.warn('a command wrote to an input through its link; the file is dropped', { blob: digest.key })
    await store.files?.drop(digest, call)
  }
  return changed.length > 0
}
