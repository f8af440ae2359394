import { withoutSecrets } from '../log/secrets.js'
import type { Problem } from './problem.js'

/** Keys whose values, or whose members' values, are secret. */
const KEYS = '(?:headers|\\w*(?:password|secret|sas_url|connection_string|account_key|access_key|credentials?))'

const TEXT = /"(?:[^"\\]|\\.)*"|'(?:[^'\\]|\\.)*'/.source
const SECRET_VALUE = new RegExp(`\\b(${KEYS}["']?\\s*:\\s*)(${TEXT}|\\{[^{}]*\\})`, 'gs')
const VALUE = new RegExp(`(^|:\\s*)(${TEXT})`, 'gs')
/** User name and password in an address. */
const LOGIN = /(:\/\/)([^\s/@"'\\]+)(?=@)/g

const SECRET_PATH = new RegExp(`\\b${KEYS}(?:\\.[^.]+)?$`)

const starred = (text: string): string => text.replace(/[^\n]/g, '*')

/** Replaces each character of a secret by `*`, so lines and columns stay the same. */
export const withSecretsStarred = (source: string): string =>
  source
    .replace(SECRET_VALUE, (_all, key: string, value: string) => key + value.replace(VALUE, quotedStars))
    .replace(LOGIN, (_all, scheme: string, login: string) => scheme + starred(login))

const quotedStars = (_all: string, before: string, text: string): string =>
  before + text.charAt(0) + starred(text.slice(1, -1)) + text.charAt(0)

/** The problem without secrets. */
export const withoutSecretsIn = (problem: Problem): Problem => {
  const { path, message, found } = problem
  const isSecret = found !== undefined && SECRET_PATH.test(path)
  const masked = isSecret ? message.replaceAll(found, '(hidden)') : message
  return {
    ...problem,
    message: withoutSecrets(masked),
    ...(found !== undefined && { found: isSecret ? '(hidden)' : withoutSecrets(found) }),
  }
}
