import type { FieldLines } from './hpack/decoder.js'

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

// RFC 9113, 8.2.1 and 8.2.2.
const NAME = /^[!#$%&'*+\-.^_`|~0-9a-z]+$/
const BAD_VALUE = /[\0\r\n]|^[ \t]|[ \t]$/
const CONNECTION_FIELDS = new Set(['connection', 'proxy-connection', 'keep-alive', 'transfer-encoding', 'upgrade'])
const SLASH = 0x2f
const PSEUDO_FIELDS = new Set([':method', ':scheme', ':path', ':authority'])

/** The head of a request, or why it is malformed (RFC 9113, 8.1.1). */
export const requestHead = (lines: FieldLines): RequestHead | string => {
  const pseudo: { [name: string]: string } = {}
  let contentLengthBytes: number | undefined
  let isRegular = false
  for (let at = 0; at < lines.length; at += 2) {
    const name = lines[at] as string
    const value = lines[at + 1] as string
    if (name.charCodeAt(0) === 0x3a) {
      if (isRegular) return 'a pseudo-header field comes after others'
      if (!PSEUDO_FIELDS.has(name)) return 'an unknown pseudo-header field'
      if (pseudo[name] !== undefined) return `two ${name}`
      if (BAD_VALUE.test(value)) return 'a field has an invalid value'
      pseudo[name] = value
      continue
    }
    isRegular = true
    const problem = fieldProblem(name, value)
    if (problem !== undefined) return problem
    if (name !== 'content-length') continue
    if (!/^\d{1,15}$/.test(value)) return 'content-length is not a number'
    if (contentLengthBytes !== undefined && contentLengthBytes !== Number(value))
      return 'two different values of content-length'
    contentLengthBytes = Number(value)
  }
  const { ':method': method, ':scheme': scheme, ':path': path = '' } = pseudo
  if (method === undefined) return 'no :method'
  if (method === 'CONNECT') {
    // RFC 9113, 8.5.
    if (scheme !== undefined || pseudo[':path'] !== undefined) return 'CONNECT with :scheme or :path'
    if (pseudo[':authority'] === undefined) return 'CONNECT without :authority'
  } else if (scheme === undefined || path === '') return 'no :scheme or no :path'
  else if (path.charCodeAt(0) !== SLASH && !(path === '*' && method === 'OPTIONS')) return 'a :path that is no path'
  return { method, path, lines, contentLengthBytes }
}

/** Why trailers are malformed; undefined if they are valid (RFC 9113, 8.1). */
export const trailersProblem = (lines: FieldLines): string | undefined => {
  for (let at = 0; at < lines.length; at += 2) {
    const problem = fieldProblem(lines[at] as string, lines[at + 1] as string)
    if (problem !== undefined) return problem
  }
  return undefined
}

const fieldProblem = (name: string, value: string): string | undefined => {
  if (!NAME.test(name)) return 'a field has an invalid name'
  if (BAD_VALUE.test(value)) return 'a field has an invalid value'
  if (CONNECTION_FIELDS.has(name)) return `the field ${name}, which HTTP/2 does not have`
  if (name === 'te' && value !== 'trailers') return 'te with another value than trailers'
  return undefined
}
