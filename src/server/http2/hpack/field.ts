/** A header field as decoded. One that a table holds is made once and serves many requests, so it is checked once. */
export interface Field {
  readonly name: string
  readonly value: string
  /** Size in tables and header lists (RFC 7541, 4.1; RFC 9113, 6.5.2). */
  readonly sizeBytes: number
  /** Why no message may have this field; undefined if it is valid (RFC 9113, 8.2). */
  readonly problem: string | undefined
}

const ENTRY_BYTES = 32

// RFC 9113, 8.2.1 and 8.2.2.
const NAME = /^[!#$%&'*+\-.^_`|~0-9a-z]+$/
const BAD_VALUE = /[\0\r\n]/
const PADDED = /^[ \t]|[ \t]$/

/** The problem of a field whose value begins or ends with a blank. */
export const PADDED_VALUE = 'a field has a blank around its value'
const CONNECTION_FIELDS = new Set(['connection', 'proxy-connection', 'keep-alive', 'transfer-encoding', 'upgrade'])
const COLON = 0x3a

/** Size of the smallest entry of a table. */
export const MIN_FIELD_BYTES = ENTRY_BYTES

export const makeField = (name: string, value: string): Field => ({
  name,
  value,
  sizeBytes: name.length + value.length + ENTRY_BYTES,
  problem: problemOf(name, value),
})

/** Pseudo-header fields have names of their own, which the head of the request checks. */
const problemOf = (name: string, value: string): string | undefined => {
  if (name.charCodeAt(0) !== COLON && !NAME.test(name)) return 'a field has an invalid name'
  if (BAD_VALUE.test(value)) return 'a field has an invalid value'
  if (PADDED.test(value)) return PADDED_VALUE
  if (CONNECTION_FIELDS.has(name)) return `the field ${name}, which HTTP/2 does not have`
  if (name === 'te' && value !== 'trailers') return 'te with another value than trailers'
  return undefined
}
