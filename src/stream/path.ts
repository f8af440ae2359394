import type { Duplex, Readable, Writable } from 'node:stream'
import { StatusError } from '../base/status-error.js'
import type { CompressorName } from '../reapi/compressor.js'

/** The stages of a download, source first. The owner must run or discard them. */
export type ReadPath = readonly [Readable, ...Duplex[]]

/**
 * The stages of an upload, sink last. The sink's `finish` means committed. A sink destroyed before that
 * leaves no trace.
 */
export type WritePath = readonly [...Duplex[], Writable]

/** The stages of a whole transfer. */
export type Path = readonly [Readable, ...Duplex[], Writable]

/** The requested part of a blob, in bytes. `limit` is Infinity for everything from `offset` on. */
export interface Range {
  /** Negative: counted from the end. A position before the first byte means the first byte. */
  readonly offset: number
  readonly limit: number
  /** The encoding the part will be sent in. A hint: a store with several copies may have one in this encoding. */
  readonly wantedAs?: CompressorName | undefined
}

/**
 * High-water mark of a byte stage. 256 KiB reads files four times as fast as Node's default (2,426 against
 * 605 MB/s), and a path of five stages still holds less than 2 MiB.
 */
export const STAGE_BYTES = 256 * 1024

export const WHOLE: Range = { offset: 0, limit: Number.POSITIVE_INFINITY }

/** Whether a range covers all of a blob of that size. */
export const isWhole = ({ offset, limit }: Range, sizeBytes: number): boolean =>
  (offset === 0 || -offset >= sizeBytes) && limit >= sizeBytes

/**
 * Start and end of a range in a blob of that size. Throws OUT_OF_RANGE if it starts after the last byte.
 * `key` names the blob.
 */
export const extentOf = (
  range: Range,
  sizeBytes: number,
  key: string,
): { readonly offset: number; readonly end: number } => {
  const offset = range.offset < 0 ? Math.max(0, sizeBytes + range.offset) : range.offset
  if (offset > sizeBytes) throw pastEnd(key, offset, sizeBytes)
  return { offset, end: Math.min(sizeBytes, offset + range.limit) }
}

/** The error for an offset after the last byte; `key` names the blob. */
export const pastEnd = (key: string, offset: number, sizeBytes: number): StatusError =>
  new StatusError('OUT_OF_RANGE', `cannot read blob ${key} from byte ${offset}: it has ${sizeBytes} bytes`)

/** Destroys a path without running it, so that every stage releases its resources. */
export const discard = (path: ReadPath | WritePath): void => {
  for (const stage of path) {
    // A stage may fail while it is destroyed. No caller is left to report to, and an unhandled 'error' would
    // end the process.
    stage.on('error', () => {})
    stage.destroy()
  }
}
