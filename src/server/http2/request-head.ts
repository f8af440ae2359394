import type { DecodedBlock, FieldLines } from './hpack/decoder.js'

/** The head of a request (RFC 9113, 8.3.1). */
export interface RequestHead {
  readonly method: string
  /** Empty for CONNECT, which has no path. */
  readonly path: string
  /** All fields in order, including pseudo-header fields. */
  readonly lines: FieldLines
  /** The announced size of the body. */
  readonly contentLengthBytes: number | undefined
}

const COLON = 0x3a
const SLASH = 0x2f
const LENGTH = /^\d{1,15}$/

/** The head of a request, or why it is malformed (RFC 9113, 8.1.1). */
export const requestHead = ({ lines, problem }: Pick<DecodedBlock, 'lines' | 'problem'>): RequestHead | string => {
  if (problem !== undefined) return problem
  let method: string | undefined
  let scheme: string | undefined
  let path: string | undefined
  let authority: string | undefined
  let contentLengthBytes: number | undefined
  let isRegular = false
  for (let at = 0; at < lines.length; at += 2) {
    const name = lines[at] as string
    const value = lines[at + 1] as string
    if (name.charCodeAt(0) !== COLON) {
      isRegular = true
      if (name !== 'content-length') continue
      if (!LENGTH.test(value)) return 'content-length is not a number'
      if (contentLengthBytes !== undefined && contentLengthBytes !== Number(value))
        return 'two different values of content-length'
      contentLengthBytes = Number(value)
      continue
    }
    if (isRegular) return 'a pseudo-header field comes after others'
    if (name === ':method') {
      if (method !== undefined) return 'two :method'
      method = value
    } else if (name === ':scheme') {
      if (scheme !== undefined) return 'two :scheme'
      scheme = value
    } else if (name === ':path') {
      if (path !== undefined) return 'two :path'
      path = value
    } else if (name === ':authority') {
      if (authority !== undefined) return 'two :authority'
      authority = value
    } else return 'an unknown pseudo-header field'
  }
  if (method === undefined) return 'no :method'
  if (method === 'CONNECT') {
    // RFC 9113, 8.5.
    if (scheme !== undefined || path !== undefined) return 'CONNECT with :scheme or :path'
    if (authority === undefined) return 'CONNECT without :authority'
    return { method, path: '', lines, contentLengthBytes }
  }
  if (scheme === undefined || path === undefined || path === '') return 'no :scheme or no :path'
  if (path.charCodeAt(0) !== SLASH && !(path === '*' && method === 'OPTIONS')) return 'a :path that is no path'
  return { method, path, lines, contentLengthBytes }
}

/** Why trailers are malformed; undefined if they are valid (RFC 9113, 8.1). */
export const trailersProblem = ({ lines, problem }: Pick<DecodedBlock, 'lines' | 'problem'>): string | undefined => {
  if (problem !== undefined) return problem
  for (let at = 0; at < lines.length; at += 2) {
    if ((lines[at] as string).charCodeAt(0) === COLON) return 'a pseudo-header field within trailers'
  }
  return undefined
}
