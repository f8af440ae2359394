import { withoutSecrets } from '../log/secrets.js'
import type { JsonValue } from './read/document.js'
import type { Environment } from './read/environment.js'

/** Keys with secret texts. Texts in an object below such a key are secret too. */
const SECRET_KEY = /^(headers|.*(password|secret|sas_url|connection_string|account_key|access_key|credentials?))$/
const SECRET_VARIABLE = /(TOKEN|SECRET|PASSW|PASSPHRASE|KEY|CREDENTIAL|AUTH)/i

/** Shorter texts are too likely to be ordinary words, as in the log. */
const LEAST_LENGTH = 8

/** The secret texts of a document with expanded variables, longest first. */
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
    // The escaped form, as in a quoted text.
    into.add(JSON.stringify(String(value)).slice(1, -1))
  } else if (Array.isArray(value)) {
    for (const item of value) collect(item as JsonValue, isSecret, into)
  } else if (typeof value === 'object' && value !== null) {
    for (const [key, item] of Object.entries(value)) collect(item as JsonValue, isSecret || SECRET_KEY.test(key), into)
  }
}

/** The text without these secrets, and without other text that looks like a secret. */
export const hidden = (text: string, secrets: readonly string[]): string =>
  withoutSecrets(secrets.reduce((shown, secret) => shown.replaceAll(secret, '***'), text))

/**
 * The same with unchanged length, so that columns stay the same. References to environment variables stay
 * visible.
 */
export const masked = (text: string, secrets: readonly string[]): string =>
  withoutSecrets(
    secrets
      .filter((secret) => !/\$[{A-Za-z_]/.test(secret))
      .reduce((shown, secret) => shown.replaceAll(secret, '*'.repeat(secret.length)), text),
  )

/** Whether the text itself contains a secret, apart from environment variables. */
export const holdsSecrets = (text: string, secrets: readonly string[]): boolean => {
  // The quote ends text that looks like a secret.
  const literal = text.replaceAll(/\$\{[^}]*\}|\$[A-Za-z_]\w*/g, '"')
  return masked(literal, secrets) !== literal
}
