import { accessSync, constants, existsSync } from 'node:fs'
import { homedir } from 'node:os'
import { isAbsolute, join } from 'node:path'
import { inWords } from '../base/errno.js'
import { StatusError } from '../base/status-error.js'

type Variables = Readonly<Record<string, string | undefined>>

const NAME = 'remexec/remexec.json5'

/** Where a configuration is looked for that nobody names: the user's first (XDG Base Directory Specification), then the machine's. */
export const configPlaces = ({
  XDG_CONFIG_HOME: home = '',
  XDG_CONFIG_DIRS: others = '',
}: Variables): readonly string[] =>
  [isAbsolute(home) ? home : join(homedir(), '.config'), ...others.split(':').filter(isAbsolute), '/etc'].map(
    (folder) => join(folder, NAME),
  )

/**
 * The configuration to use if nobody names one; undefined if there is none. FAILED_PRECONDITION if this user may not read it: to
 * serve something else in its place would surprise.
 */
export const defaultConfig = (env: Variables): string | undefined => {
  const path = configPlaces(env).find((place) => existsSync(place))
  if (path === undefined) return undefined
  try {
    accessSync(path, constants.R_OK)
    return path
  } catch (error) {
    const advice = 'run remexec as the user of that configuration, name another one, or use `remexec start`'
    throw new StatusError('FAILED_PRECONDITION', `${path}: ${inWords(error)}: ${advice}`, { cause: error })
  }
}
