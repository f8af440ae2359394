/** What stands in a URL before the host for who logs in, and what comes behind the scheme of an Authorization header. */
const SECRETS = /(\b[a-z][a-z0-9+.-]*:\/\/)[^\s/@"'\\]+@|(\b(?:Bearer|Basic)(?:\s+|%20))[^\s,"'\\]+/gi

/** One of these is in each of them. A line that has none, as nearly all, is looked through once, for a fifth of the time. */
const SIGNS = /:\/\/|b(?:earer|asic)(?:\s|%20)/i

/** Names under which a secret might come; their values are never written. */
const SECRET_NAMES = new Set(['authorization', 'password', 'token', 'secret', 'headers', 'cookie', 'private_key'])
const HIDDEN = '(hidden)'
/** Deeper than anybody says things in a log, and an end where something refers to itself. */
const MAX_DEPTH = 4

/** Fields of a line without what stands under the name of a secret; the same object where there is nothing to hide. */
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

/** A text without the secrets that errors of libraries like to repeat. */
export const withoutSecrets = (text: string): string => {
  if (!SIGNS.test(text)) return text
  return text.replace(SECRETS, (_found, url: string | undefined, scheme: string | undefined) =>
    url === undefined ? `${scheme}***` : `${url}***@`,
  )
}

/** Shorter ones are words that a text may have for other reasons, and guard little. */
const LEAST_LENGTH = 8

/** The secrets of this process, for whoever writes what others may read. */
export class KnownSecrets {
  #pattern: RegExp | undefined

  /** The longest first. */
  learn(secrets: readonly string[]): void {
    const words = secrets
      .filter(({ length }) => length >= LEAST_LENGTH)
      .map((secret) => secret.replaceAll(/[.*+?^${}()|[\]\\]/g, '\\$&'))
    this.#pattern = words.length === 0 ? undefined : new RegExp(words.join('|'), 'g')
  }

  /** A text without these, and without what gives itself away as a secret. */
  hide(text: string): string {
    return withoutSecrets(this.hideKnown(text))
  }

  /** Without these, for who has done the other. */
  hideKnown(text: string): string {
    return this.#pattern === undefined ? text : text.replace(this.#pattern, '***')
  }
}
