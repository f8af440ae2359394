import type { Metadata } from '../../rpc/rpc.js'
import type { FieldLines } from '../http2/hpack/decoder.js'

/** Fields of HTTP/2 and gRPC, which are not metadata. */
const isOfProtocol = (name: string): boolean =>
  name.startsWith(':') || name.startsWith('grpc-') || name === 'te' || name === 'content-type'

/** The metadata among the fields of a request (gRPC over HTTP2, Custom-Metadata). */
export const metadataOf = (lines: FieldLines): Metadata => {
  const metadata = new Map<string, string | Buffer>()
  for (let at = 0; at < lines.length; at += 2) {
    const name = lines[at] as string
    if (metadata.has(name) || isOfProtocol(name)) continue
    const value = lines[at + 1] as string
    metadata.set(name, name.endsWith('-bin') ? bytesOf(value) : value)
  }
  return metadata
}

/** Metadata as fields of a response. Throws if a name or value cannot be sent. */
export const fieldsOf = (metadata: Metadata): [name: string, value: string][] =>
  [...metadata].map(([name, value]) => {
    if (!/^[a-z0-9_.-]+$/.test(name) || isOfProtocol(name))
      throw new TypeError(`${name} is not a valid name for metadata`)
    if (name.endsWith('-bin') !== Buffer.isBuffer(value)) {
      throw new TypeError(`${name} is ${typeof value}, expected bytes for names that end in -bin, and for no other`)
    }
    if (Buffer.isBuffer(value)) return [name, base64Of(value)]
    if (!/^[ -~]*$/.test(value)) throw new TypeError(`the value of ${name} is not printable ASCII`)
    return [name, value]
  })

/** Without padding, as recommended by gRPC over HTTP2. */
export const base64Of = (bytes: Buffer): string => bytes.toString('base64').replace(/=+$/, '')

/** The first of several values joined by commas; base64 with or without padding. */
const bytesOf = (value: string): Buffer => Buffer.from(value.split(',', 1)[0] ?? '', 'base64')

/** Whether a field occurs more than once. */
export const repeatsField = (lines: FieldLines, name: string): boolean => {
  let count = 0
  for (let at = 0; at < lines.length; at += 2) if (lines[at] === name) count += 1
  return count > 1
}

/** The first value of a field. */
export const fieldOf = (lines: FieldLines, name: string): string | undefined => {
  for (let at = 0; at < lines.length; at += 2) if (lines[at] === name) return lines[at + 1]
  return undefined
}
