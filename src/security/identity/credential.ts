import { createHash } from 'node:crypto'
import { StatusError } from '../../base/status-error.js'

/** What an authorization header holds. */
export interface Credential {
  readonly scheme: 'bearer' | 'basic'
  readonly text: string
  /** SHA-256 of the text in hex, by which it is known wherever something is kept of it. */
  readonly hash: string
}

/** Hex. Tokens are random: they need no slow hash. */
export const hashOf = (text: string): string => createHash('sha256').update(text).digest('hex')

/** UNAUTHENTICATED where the header is of another kind. */
export const readCredential = (authorization: string): Credential => {
  const [, scheme = '', text = ''] = /^(bearer|basic) +(\S+) *$/i.exec(authorization) ?? []
  if (scheme === '') throw unknownKind()
  return { scheme: scheme.toLowerCase() === 'bearer' ? 'bearer' : 'basic', text, hash: hashOf(text) }
}

/** Which of them a proxy has put there nobody knows. */
export const severalHeaders = (name: string): StatusError =>
  new StatusError('UNAUTHENTICATED', `the request has several ${name} headers, expected one`)

export const unknownKind = (): StatusError =>
  new StatusError('UNAUTHENTICATED', 'the authorization header is of no kind that is known here')
