import { StatusError } from '../../../base/status-error.js'
import { ZstdDecoder, zstdCompress } from '../../../stream/compression/zstd.js'
import { MAX_FRAME_HEADER_BYTES, parseZstdFrame } from '../../../stream/compression/zstd-frame.js'
import type { Range } from '../../../stream/path.js'
import { uncompressLz4 } from './blocks.js'
import { checkCrc, corrupt, type Header, LENGTH_PREFIX_BYTES, type RecordHead } from './container.js'

/** Converts the records of one blob for a reader. Its methods throw when the blob is damaged. */
export interface Extraction {
  /** Whether no more records are needed. */
  readonly isSatisfied: boolean
  /** The bytes to send for a record, produced lazily. */
  pieces(head: RecordHead, payload: Buffer): Iterable<Buffer>
  /** Ends the blob, which claims this length. */
  end(sizeBytes: number): void
  close(): void
}

interface ExtractionOptions {
  /** The backend compares the stored bytes with what was written, so their records are not compared again. */
  readonly isChecked?: boolean
  readonly position: number
  readonly scratch?: Buffer | undefined
}

/** A range of the plain blob. Blocks before the range are skipped without decoding. */
export class IdentityExtraction implements Extraction {
  readonly #header: Header
  readonly #range: Range
  readonly #frames: ZstdDecoder | undefined
  readonly #isChecked: boolean
  /** Bytes of the blob decoded or skipped so far. */
  #position: number
  #lastBlockBytes: number | undefined

  /** `position` is that of the first record. With `scratch` pieces may lie there, each until the next. */
  constructor(header: Header, range: Range, { isChecked = false, position, scratch }: ExtractionOptions) {
    this.#header = header
    this.#isChecked = isChecked
    this.#range = range
    this.#position = position
    this.#frames = header.algorithm === 'zstd' ? new ZstdDecoder(undecodable, scratch && { scratch }) : undefined
  }

  get isSatisfied(): boolean {
    return this.#position >= this.#range.offset + this.#range.limit
  }

  *pieces(head: RecordHead, payload: Buffer): Iterable<Buffer> {
    const { offset, limit } = this.#range
    const expectedBytes = this.#blockLength(head, payload)
    if (expectedBytes !== undefined && this.#position + expectedBytes <= offset) {
      this.#position += expectedBytes
      return
    }
    if (!this.#isChecked) checkCrc(head, payload)
    let foundBytes = 0
    for (const piece of this.#decode(head, payload)) {
      foundBytes += piece.length
      if (expectedBytes !== undefined && foundBytes > expectedBytes) break
      const from = Math.max(0, offset - this.#position)
      const to = Math.min(piece.length, offset + limit - this.#position)
      this.#position += piece.length
      if (from < to) yield piece.subarray(from, to)
      if (this.isSatisfied) return
    }
    if (expectedBytes === undefined || (foundBytes === expectedBytes && this.#frames?.isInside !== true)) return
    throw corrupt(`a block decodes to other than the ${expectedBytes} bytes it claims`)
  }

  end(sizeBytes: number): void {
    if (this.#frames?.isInside === true) throw corrupt('it ends inside a frame')
    if (sizeBytes !== this.#position) throw corrupt(`it has ${this.#position} bytes, expected ${sizeBytes}`)
    if (this.#range.offset <= sizeBytes) return
    const asked = `cannot read the blob from byte ${this.#range.offset}`
    throw new StatusError('OUT_OF_RANGE', `${asked}: it has ${sizeBytes} bytes`)
  }

  close(): void {
    this.#frames?.close()
  }

  #decode(head: RecordHead, payload: Buffer): Iterable<Buffer> {
    if (this.#frames !== undefined) {
      if (head.kind !== 'raw') checkWindow(payload, this.#header)
      return this.#frames.decode(frameBytes(head, payload))
    }
    return [head.kind === 'raw' ? payload : uncompressLz4(payload)]
  }

  /** The decoded length of a block; undefined for a piece of a frame, whose length only decoding shows. */
  #blockLength(head: RecordHead, payload: Buffer): number | undefined {
    if (head.kind === 'raw' && this.#header.algorithm === 'zstd') return undefined
    if (this.#frames?.isInside === true) throw corrupt('a block begins inside a frame')
    const sizeBytes = blockLength(head, payload, this.#header)
    if (this.#header.algorithm === 'lz4') {
      const before = this.#lastBlockBytes ?? this.#header.blockBytes
      if (before !== this.#header.blockBytes) throw corrupt(`a block of ${before} bytes is not the last`)
      this.#lastBlockBytes = sizeBytes
    }
    return sizeBytes
  }
}

/** The whole blob as one zstd stream: the stored frames unchanged. */
export class ZstdExtraction implements Extraction {
  readonly isSatisfied = false
  readonly #header: Header
  readonly #isChecked: boolean

  constructor(header: Header, { isChecked }: { readonly isChecked: boolean }) {
    this.#header = header
    this.#isChecked = isChecked
  }

  *pieces(head: RecordHead, payload: Buffer): Iterable<Buffer> {
    if (!this.#isChecked) checkCrc(head, payload)
    if (this.#header.algorithm === 'zstd') yield frameBytes(head, payload)
    else if (head.kind === 'raw') yield zstdCompress(payload)
    else {
      blockLength(head, payload, this.#header)
      yield zstdCompress(uncompressLz4(payload))
    }
  }

  end(): void {}

  close(): void {}
}

const undecodable = (_reason: string, cause: unknown): StatusError => corrupt('a frame cannot be decoded', cause)

/** The zstd bytes of a record, without the length before a block. */
const frameBytes = (head: RecordHead, payload: Buffer): Buffer =>
  head.kind === 'raw' ? payload : payload.subarray(LENGTH_PREFIX_BYTES)

/** A frame that this store made has no larger window than its block, so that a read of it takes no more. */
const checkWindow = (payload: Buffer, { blockBytes }: Header): void => {
  const frame = parseZstdFrame(payload.subarray(LENGTH_PREFIX_BYTES, LENGTH_PREFIX_BYTES + MAX_FRAME_HEADER_BYTES))
  if (frame?.kind !== 'content' || frame.windowBytes <= blockBytes) return
  throw corrupt(`a block needs a window of ${frame.windowBytes} bytes, expected at most ${blockBytes}`)
}

/** What a record says that it decodes to. Infinite if its frame does not say. */
export const claimedBytes = (head: RecordHead, payload: Buffer, { algorithm }: Header): number => {
  if (head.kind === 'end' || head.kind === 'index') return 0
  if (head.kind === 'compressed') return payload.length < LENGTH_PREFIX_BYTES ? 0 : payload.readUInt32LE(0)
  if (algorithm === 'lz4') return payload.length
  const frame = parseZstdFrame(payload)
  return frame?.kind === 'content' ? (frame.contentBytes ?? Number.POSITIVE_INFINITY) : Number.POSITIVE_INFINITY
}

/** Validates the claimed length of a block, because memory is allocated for it. */
const blockLength = (head: RecordHead, payload: Buffer, { algorithm, blockBytes }: Header): number => {
  if (head.kind === 'raw' && algorithm === 'lz4') return payload.length
  if (payload.length <= LENGTH_PREFIX_BYTES) throw corrupt('a block is too short to be one')
  const sizeBytes = payload.readUInt32LE(0)
  if (sizeBytes > 0 && sizeBytes <= blockBytes) return sizeBytes
  throw corrupt(`a block claims ${sizeBytes} bytes, expected 1 to ${blockBytes}`)
}
