import type { Clock } from '../../base/clock.js'
import type { LocalWorkerOptions } from '../../config/config.js'
import type { RunDirectory } from '../disk/session.js'
import type { WorkDirectory } from '../disk/work-directory.js'
import { KeptRoots } from './kept-roots.js'

export interface KeptRootsParts {
  readonly options: LocalWorkerOptions
  readonly workDirectory: WorkDirectory
  /** Whether commands write beside their input roots: then more than the root would have to be unchanged. */
  readonly writesBesideRoot: boolean
  readonly onChange: () => void
  readonly clock: Clock
}

/** The input roots that a worker keeps; undefined if it keeps none. */
export const openKeptRoots = ({
  options,
  workDirectory,
  writesBesideRoot,
  onChange,
  clock,
}: KeptRootsParts): KeptRoots | undefined => {
  const { directory_cache: kept } = options
  if (kept === undefined || writesBesideRoot) return undefined
  const { max_entries: maxEntries, max_size_bytes: maxBytes, max_age_s: maxAgeS } = kept
  const discard = (directory: RunDirectory): void => workDirectory.discard(directory)
  return new KeptRoots({ maxEntries, maxBytes, maxAgeMs: maxAgeS * 1000, discard, onChange, clock })
}
