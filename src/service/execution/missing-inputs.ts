import type { Call } from '../../base/call.js'
import { isStatus } from '../../base/status-error.js'
import { directoryFiles } from '../../reapi/action-result.js'
import type { Digest } from '../../reapi/digest.js'
import { missingOf, type Store } from '../../store/store.js'
import { walkDirectories } from '../directory-walk.js'

const MAX_DIRECTORY_BYTES = 16 * 1024 * 1024
const FILES_AT_A_TIME = 10_000

/** Everything that is missing, each blob once: what is known to be, and what the tree below `inputRoot` lacks. */
export const missingInputs = async (
  cas: Store,
  known: readonly Digest[],
  inputRoot: Digest,
  call: Call,
): Promise<Digest[]> => {
  const missing = new Map(known.map((digest) => [digest.key, digest]))
  if (missing.has(inputRoot.key)) return [...missing.values()]
  let wanted = new Map<string, Digest>()
  const ask = async (): Promise<void> => {
    for (const digest of await missingOf(cas, [...wanted.values()], call)) missing.set(digest.key, digest)
    wanted = new Map()
  }
  const onMissing = (digest: Digest): void => void missing.set(digest.key, digest)
  try {
    const walk = walkDirectories(cas, inputRoot, call, { maxDirectoryBytes: MAX_DIRECTORY_BYTES, onMissing })
    for await (const { digest, message } of walk) {
      for (const file of directoryFiles(message, digest.function)) wanted.set(file.key, file)
      if (wanted.size >= FILES_AT_A_TIME) await ask()
    }
  } catch (error) {
    // The root was there a moment ago.
    if (!isStatus(error, 'NOT_FOUND')) throw error
    missing.set(inputRoot.key, inputRoot)
  }
  await ask()
  return [...missing.values()]
}
