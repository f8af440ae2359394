/** How our access tokens begin. */
export const TOKEN_PREFIX = 'rmx_'

/**
 * Credentials in a URL before the host, those after the scheme of an Authorization header (but not the words "bearer token"), and secrets by their form: our access
 * tokens, JSON Web Tokens and hashes of passwords. A list of known secrets could not have these: they change while the server
 * runs, and the server knows only the hashes of tokens.
 */
const SECRETS =
  /(\b[a-z][a-z0-9+.-]{0,31}:\/\/)[^\s/@"'\\]+@|(\b(?:Bearer|Basic)(?:\s+|%20))(?!(?:token|auth)[a-z]*(?![\w.~+/=-]))[^\s,"'\\]+|(rmx_)[\w-]{40,}|((?<![\w-])eyJ)[\w-]{8,}\.[\w-]{8,}\.[\w-]*|(\$2[aby]\$\d\d\$)[./a-z0-9]{53}/gi

/** Every secret contains one of these. Most lines have none, so this check makes them five times as fast. */
const SIGNS = /:\/\/|b(?:earer|asic)(?:\s|%20)|rmx_|eyJ|\$2[aby]\$/i

/** Field names that may hold secrets; their values are never written. */
const SECRET_NAMES = new Set(['authorization', 'password', 'token', 'secret', 'headers', 'cookie', 'private_key'])
const HIDDEN = '(hidden)'
/** Deeper than any log field is nested. Also ends the recursion for circular references. */
const MAX_DEPTH = 4

/** Hides the values of fields with secret names. Returns the same object when there is nothing to hide. */
export const hideSecrets = (
  fields: Readonly<Record<string, unknown>>,
  depth = 0,
): Readonly<Record<string, unknown>> => {
  let changed: Record<string, unknown> | undefined
  for (const name in fields) {
    const value = fields[name]
    const shown = SECRET_NAMES.has(name) ? HIDDEN : shownOf(value, depth)
    if (shown === value) continue
    changed ??= { ...fields }
    changed[name] = shown
  }
  return changed ?? fields
}

const shownOf = (value: unknown, depth: number): unknown => {
  if (typeof value !== 'object' || value === null || value instanceof Error || depth >= MAX_DEPTH) return value
  if (Array.isArray(value)) return value.map((one: unknown) => shownOf(one, depth + 1))
  return hideSecrets(value as Readonly<Record<string, unknown>>, depth + 1)
}

/** Hides secrets in a text. Errors of libraries often repeat them. */
export const withoutSecrets = (text: string): string => {
  if (!SIGNS.test(text)) return text
  return text.replace(SECRETS, (_found, url?: string, ...others: readonly (string | undefined)[]) => {
    if (url !== undefined) return `${url}***@`
    return `${others.slice(0, OTHERS).find((beginning) => beginning !== undefined)}***`
  })
}

/** Groups of `SECRETS` after the first. */
const OTHERS = 4

/** Shorter secrets are too likely to occur as ordinary words. */
const LEAST_LENGTH = 8

/** Hides secrets that no form identifies. */
export interface SecretLearner {
  /** Hides these secrets in everything that the process writes, until the returned function is called. */
  learn(secrets: readonly string[]): () => void
}

/** For a process whose log nobody reads. */
export const unhiddenSecrets: SecretLearner = { learn: () => () => {} }

/** The secrets of this process, to be hidden in text that others may read. */
export class KnownSecrets implements SecretLearner {
  readonly #learned = new Set<readonly string[]>()
  #pattern: RegExp | undefined

  learn(secrets: readonly string[]): () => void {
    const words = secrets.filter(({ length }) => length >= LEAST_LENGTH)
    this.#learned.add(words)
    this.#pattern = patternOf(this.#learned)
    return () => {
      this.#learned.delete(words)
      this.#pattern = patternOf(this.#learned)
    }
  }

  /** Hides the known secrets and everything that looks like one. */
  hide(text: string): string {
    return withoutSecrets(this.hideKnown(text))
  }

  /** Hides the known secrets only, for text that already passed `withoutSecrets`. */
  hideKnown(text: string): string {
    return this.#pattern === undefined ? text : text.replace(this.#pattern, '***')
  }
}

/** Matches the longest first, because one secret may begin with another. */
const patternOf = (learned: Iterable<readonly string[]>): RegExp | undefined => {
  const words = [...new Set([...learned].flat())].sort((a, b) => b.length - a.length)
  if (words.length === 0) return undefined
  return new RegExp(words.map((word) => word.replaceAll(/[.*+?^${}()|[\]\\]/g, '\\$&')).join('|'), 'g')
}
