import { codecByName } from '../proto/codec.js'

export type Json = null | boolean | number | string | readonly Json[] | { readonly [field: string]: Json }

export const DIGEST_TEXT = /^[0-9a-f]{32,128}\/\d+$/

export const isDigestText = (value: Json | undefined): value is string =>
  typeof value === 'string' && DIGEST_TEXT.test(value)

export const digestText = ({ hash, sizeBytes }: { readonly hash: string; readonly sizeBytes: number }): string =>
  `${hash}/${sizeBytes}`

export const parseDigest = (text: string): { hash: string; sizeBytes: number } => {
  const [hash = '', size] = text.split('/')
  return { hash, sizeBytes: Number(size) }
}

/** Shows bytes as text if they are text. */
export const bytesForm = (bytes: Buffer): { readonly text: string } | { readonly base64: string } => {
  const text = bytes.toString('utf8')
  // biome-ignore lint/suspicious/noControlCharactersInRegex: what is not shown well as text is what is looked for.
  const isText = Buffer.from(text).equals(bytes) && !/[\u0000-\u0008\u000b-\u001f\u007f]/.test(text)
  return isText ? { text } : { base64: bytes.toString('base64') }
}

/**
 * A decoded message as a session stores it: exactly the fields on the wire, digests as `hash/size`, an Any as its inner
 * message.
 */
export const toJson = (value: unknown): Json => {
  if (value === null || typeof value === 'boolean' || typeof value === 'number' || typeof value === 'string') {
    return value
  }
  if (value instanceof Uint8Array) return bytesForm(Buffer.from(value))
  if (Array.isArray(value)) return value.map(toJson)
  if (typeof value !== 'object') return String(value)
  // Decoding creates a list for every repeated field, even if absent on the wire.
  const own = Object.entries(value).filter(([, field]) => !(Array.isArray(field) && field.length === 0))
  const fields = Object.fromEntries(own)
  if (isDigest(fields)) return digestText({ hash: String(fields['hash']), sizeBytes: Number(fields['sizeBytes'] ?? 0) })
  if (typeof fields['typeUrl'] === 'string') return anyForm(fields['typeUrl'], fields['value'])
  return Object.fromEntries(own.map(([name, field]) => [name, toJson(field)]))
}

const isDigest = (fields: Readonly<Record<string, unknown>>): boolean =>
  typeof fields['hash'] === 'string' &&
  /^[0-9a-f]{32,128}$/.test(fields['hash']) &&
  Object.keys(fields).every((name) => name === 'hash' || name === 'sizeBytes')

const anyForm = (typeUrl: string, value: unknown): Json => {
  const bytes = value instanceof Uint8Array ? Buffer.from(value) : Buffer.alloc(0)
  try {
    const message = toJson(codecByName(typeUrl.slice(typeUrl.lastIndexOf('/') + 1)).decode(bytes))
    return { '@type': typeUrl, ...(message as { readonly [field: string]: Json }) }
  } catch {
    // A type that protos/ does not declare is kept as it is.
    return { '@type': typeUrl, base64: bytes.toString('base64') }
  }
}

/** The reverse of `toJson`, for a codec to encode. Blob references must be resolved to bytes first. */
export const fromJson = (value: Json | Uint8Array): unknown => {
  if (value instanceof Uint8Array || value === null || typeof value !== 'object') {
    return isDigestText(value as Json) ? parseDigest(String(value)) : value
  }
  if (Array.isArray(value)) return value.map(fromJson)
  const fields = value as { readonly [field: string]: Json }
  const [first, ...others] = Object.keys(fields)
  if (others.length === 0 && first === 'text') return Buffer.from(String(fields['text']))
  if (others.length === 0 && first === 'base64') return Buffer.from(String(fields['base64']), 'base64')
  const { '@type': type, ...rest } = fields
  if (typeof type === 'string') return fromAny(type, rest)
  return Object.fromEntries(Object.entries(fields).map(([name, field]) => [name, fromJson(field)]))
}

const fromAny = (typeUrl: string, rest: { readonly [field: string]: Json }): object => {
  const { base64 } = rest
  if (typeof base64 === 'string') return { typeUrl, value: Buffer.from(base64, 'base64') }
  const encoder = codecByName(typeUrl.slice(typeUrl.lastIndexOf('/') + 1))
  return { typeUrl, value: encoder.encode(fromJson(rest) as object) }
}
