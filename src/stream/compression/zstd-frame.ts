/** The header of a zstd frame with content (RFC 8878, 3.1). */
export interface ContentFrame {
  readonly kind: 'content'
  /** Memory that a decoder needs for the window. */
  readonly windowBytes: number
  /** Length of the content, if the header states it. */
  readonly contentBytes: number | undefined
}

export type ZstdFrame = ContentFrame | { readonly kind: 'skippable' }

/** Maximum length of a header: magic, descriptor, window, dictionary id, content size. */
export const MAX_FRAME_HEADER_BYTES = 18

const MAGIC = 0xfd2fb528
const SKIPPABLE_MAGIC = 0x184d2a50

/**
 * Parses the header at the start of `bytes`; undefined if there is none. Pass MAX_FRAME_HEADER_BYTES unless
 * the input is shorter.
 */
export const parseZstdFrame = (bytes: Buffer): ZstdFrame | undefined => {
  if (bytes.length < 5) return undefined
  const magic = bytes.readUInt32LE(0)
  if ((magic & 0xfffffff0) >>> 0 === SKIPPABLE_MAGIC) return { kind: 'skippable' }
  if (magic !== MAGIC) return undefined
  const descriptor = bytes.readUInt8(4)
  const isSingleSegment = (descriptor & 0x20) !== 0
  const windowField = isSingleSegment ? 0 : 1
  const dictionaryField = [0, 1, 2, 4][descriptor & 3] ?? 0
  const sizeField = [isSingleSegment ? 1 : 0, 2, 4, 8][descriptor >> 6] ?? 0
  const sizeAt = 5 + windowField + dictionaryField
  if (bytes.length < sizeAt + sizeField) return undefined
  const contentBytes = readSize(bytes, sizeAt, sizeField)
  const windowBytes = isSingleSegment ? (contentBytes ?? 0) : windowOf(bytes.readUInt8(5))
  return { kind: 'content', windowBytes, contentBytes }
}

/** Whether these bytes, which are no header, begin one. */
export const beginsZstdFrame = (bytes: Buffer): boolean =>
  bytes.length < 5 || (bytes.length < MAX_FRAME_HEADER_BYTES && bytes.readUInt32LE(0) === MAGIC)

const readSize = (bytes: Buffer, at: number, fieldBytes: number): number | undefined => {
  if (fieldBytes === 0) return undefined
  if (fieldBytes === 8) return Number(bytes.readBigUInt64LE(at))
  return bytes.readUIntLE(at, fieldBytes) + (fieldBytes === 2 ? 256 : 0)
}

const windowOf = (descriptor: number): number => {
  const base = 2 ** (10 + (descriptor >> 3))
  return base + (base / 8) * (descriptor & 7)
}
