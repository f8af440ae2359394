import { createHash } from 'node:crypto'
import { StatusError } from '../../base/status-error.js'

/** The content of an authorization header. */
export interface Credential {
  readonly scheme: 'bearer' | 'basic'
  readonly text: string
  /** SHA-256 of the text in hex: the key for caches. */
  readonly hash: string
  /** SHA-256 in hex of what may be an access token: the text after `Bearer`, or the password. */
  readonly tokenHash: string
}

/** SHA-256 in hex. Tokens are random, so they need no slow hash. */
export const hashOf = (text: string): string => createHash('sha256').update(text).digest('hex')

/** UNAUTHENTICATED if the header has another scheme. */
export const readCredential = (authorization: string): Credential => {
  const [, scheme = '', text = ''] = /^(bearer|basic) +(\S+) *$/i.exec(authorization) ?? []
  if (scheme === '') throw /^bearer *$/i.test(authorization) ? emptyToken() : unknownKind()
  const hash = hashOf(text)
  if (scheme.toLowerCase() === 'bearer') return { scheme: 'bearer', text, hash, tokenHash: hash }
  return { scheme: 'basic', text, hash, tokenHash: hashOf(passwordOf(text)) }
}

/** The password of basic authorization (RFC 7617): what follows the first colon. */
const passwordOf = (text: string): string =>
  Buffer.from(text, 'base64')
    .toString()
    .replace(/^[^:]*:/, '')

/** The error for a repeated header: it is unknown which value a proxy has set. */
export const severalHeaders = (name: string): StatusError =>
  new StatusError('UNAUTHENTICATED', `the request has several ${name} headers, expected one`)

const emptyToken = (): StatusError =>
  new StatusError(
    'UNAUTHENTICATED',
    'the bearer token is empty, expected `authorization: Bearer TOKEN`: is its variable set',
  )

export const unknownKind = (): StatusError =>
  new StatusError('UNAUTHENTICATED', 'the authorization header has a scheme that is not accepted here')
