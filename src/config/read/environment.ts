import { homedir } from 'node:os'
import type { JsonValue } from './document.js'
import type { Path } from './path.js'

export type Environment = Readonly<Record<string, string | undefined>>

const VARIABLE = 'a variable that is set, or a default after :-'

type Complain = (path: Path, message: string, expected: string) => void

const REFERENCE = /\$(?:(\$)|([A-Za-z_]\w*)|\{([A-Za-z_]\w*)(?::-([^}]*))?\}|(\{))/g

/**
 * Replaces `$NAME`, `${NAME}` and `${NAME:-default}` in every text, `$$` by a dollar, and then a leading `~/`
 * by the home directory. A variable that is set but empty gives an empty text. An undefined variable is
 * reported and left as it is.
 */
export const expandEnvironment = (
  value: JsonValue,
  env: Environment,
  complain: Complain,
  path: Path = [],
): JsonValue => {
  if (typeof value === 'string') return expandText(value, env, (message, expected) => complain(path, message, expected))
  if (Array.isArray(value)) return value.map((item, index) => expandEnvironment(item, env, complain, [...path, index]))
  if (typeof value !== 'object' || value === null) return value
  return Object.fromEntries(
    Object.entries(value).map(([key, item]) => [key, expandEnvironment(item, env, complain, [...path, key])]),
  )
}

const expandText = (text: string, env: Environment, complain: (message: string, expected: string) => void): string => {
  const expanded = text.replace(REFERENCE, (whole, dollar, bare, braced, otherwise, open) => {
    if (dollar) return '$'
    if (open) {
      complain(
        'a reference to the environment is not closed or has no name; a dollar sign itself is written $$',
        VARIABLE,
      )
      return whole
    }
    const name: string = bare ?? braced
    const found = Object.hasOwn(env, name) ? env[name] : undefined
    if (found === undefined && otherwise === undefined)
      complain(`the environment variable ${name} is not set`, VARIABLE)
    return found ?? otherwise ?? whole
  })
  if (!/^~(?=\/|$)/.test(expanded)) return expanded
  const home = env['HOME'] || homeOfUser()
  if (home === undefined)
    complain('there is no home directory for ~: set HOME', 'HOME in the environment, or a path without ~')
  return home === undefined ? expanded : `${home}${expanded.slice(1)}`
}

/** Undefined if the system does not know the user, as in containers. */
const homeOfUser = (): string | undefined => {
  try {
    return homedir()
  } catch {
    return undefined
  }
}
