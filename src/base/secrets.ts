/** What stands in a URL before the host for who logs in, and what comes behind the scheme of an Authorization header. */
const SECRETS = /(\b[a-z][a-z0-9+.-]*:\/\/)[^\s/@"'\\]+@|(\b(?:Bearer|Basic)(?:\s+|%20))[^\s,"'\\]+/gi

/** A text without the secrets that errors of libraries like to repeat. */
export const withoutSecrets = (text: string): string =>
  text.replace(SECRETS, (_found, url: string | undefined, scheme: string | undefined) =>
    url === undefined ? `${scheme}***` : `${url}***@`,
  )
