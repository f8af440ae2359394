import { withoutSecrets } from '../base/secrets.js'
import type { JsonValue } from './read/document.js'
import type { Environment } from './read/environment.js'

/** Keys whose texts are nobody's business but the configuration's; what is in an object below is as secret. */
const SECRET_KEY = /^(headers|.*(password|secret|sas_url|connection_string|account_key|access_key|credentials?))$/
const SECRET_VARIABLE = /(TOKEN|SECRET|PASSW|PASSPHRASE|KEY|CREDENTIAL|AUTH)/i

/** Shorter ones are found in half of all words, and guard nothing. */
const LEAST_LENGTH = 4

/** The texts of a document, variables replaced, that are not to be repeated; the longest first. */
export const secretsOf = (root: JsonValue, env: Environment): readonly string[] => {
  const found = new Set<string>()
  collect(root, false, found)
  for (const [name, value] of Object.entries(env)) {
    if (value !== undefined && SECRET_VARIABLE.test(name)) found.add(value)
  }
  return [...found].filter(({ length }) => length >= LEAST_LENGTH).sort((a, b) => b.length - a.length)
}

const collect = (value: JsonValue, isSecret: boolean, into: Set<string>): void => {
  if (typeof value === 'string' || typeof value === 'number') {
    if (!isSecret) return
    into.add(String(value))
    // As it stands in a text in quotes.
    into.add(JSON.stringify(String(value)).slice(1, -1))
  } else if (Array.isArray(value)) {
    for (const item of value) collect(item as JsonValue, isSecret, into)
  } else if (typeof value === 'object' && value !== null) {
    for (const [key, item] of Object.entries(value)) collect(item as JsonValue, isSecret || SECRET_KEY.test(key), into)
  }
}

/** A text without these, and without what gives itself away as a secret. */
export const hidden = (text: string, secrets: readonly string[]): string =>
  withoutSecrets(secrets.reduce((shown, secret) => shown.replaceAll(secret, '***'), text))

/** The same, as long as it was: what stands behind one is still in its column. References to the environment may be seen. */
export const masked = (text: string, secrets: readonly string[]): string =>
  withoutSecrets(
    secrets
      .filter((secret) => !/\$[{A-Za-z_]/.test(secret))
      .reduce((shown, secret) => shown.replaceAll(secret, '*'.repeat(secret.length)), text),
  )

/** Whether a text has any in it itself, beside what it takes from the environment. */
export const holdsSecrets = (text: string, secrets: readonly string[]): boolean => {
  // A quote ends whatever gives itself away as a secret.
  const own = text.replaceAll(/\$\{[^}]*\}|\$[A-Za-z_]\w*/g, '"')
  return masked(own, secrets) !== own
}
