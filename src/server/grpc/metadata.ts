import type { Metadata } from '../call/wire.js'
import type { FieldLines } from '../http2/hpack/decoder.js'

/** Fields of the protocols below, which are no metadata. */
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

/** The first of the values that may be joined by commas, in base64 with or without its padding. */
const bytesOf = (value: string): Buffer => Buffer.from(value.split(',', 1)[0] ?? '', 'base64')

/** The first value of a field. */
export const fieldOf = (lines: FieldLines, name: string): string | undefined => {
  for (let at = 0; at < lines.length; at += 2) if (lines[at] === name) return lines[at + 1]
  return undefined
}
