import { homedir } from 'node:os'
import { isAbsolute, join } from 'node:path'

type Variables = Readonly<Record<string, string | undefined>>

/** The folder of remexec in XDG_CACHE_HOME; undefined if that is not set, or not absolute, which the specification ignores. */
export const xdgCacheFolder = ({ XDG_CACHE_HOME: named = '' }: Variables): string | undefined =>
  isAbsolute(named) ? join(named, 'remexec') : undefined

/** The folder of what remexec keeps for a user. */
export const cacheFolder = (env: Variables): string => xdgCacheFolder(env) ?? join(homedir(), '.cache/remexec')
