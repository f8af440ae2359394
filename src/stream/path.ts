import type { Duplex, Readable, Writable } from 'node:stream'
import { StatusError } from '../base/status-error.js'
import type { CompressorName } from '../reapi/compressor.js'

/** The stages of one download, source first. Whoever obtains it runs it or discards it. */
export type ReadPath = readonly [Readable, ...Duplex[]]

/** The stages of one upload, sink last. The sink's `finish` means committed; destroyed before that, it leaves no trace. */
export type WritePath = readonly [...Duplex[], Writable]

/** A whole transfer. */
export type Path = readonly [Readable, ...Duplex[], Writable]

/** The part of a blob a reader asks for, in bytes. `limit` is Infinity for everything from `offset` on. */
export interface Range {
  /** Below 0 it counts from the end; one before the first byte stands for that. */
  readonly offset: number
  readonly limit: number
  /** What the part will be encoded as. A hint: where a store keeps a blob in several places, one may have it so already. */
  readonly wantedAs?: CompressorName | undefined
}

/**
 * The high-water mark of a byte stage: how much may wait in it. 256 KiB reads files four times as fast as Node's default
 * (2,426 against 605 MB/s), and a path of five stages still stays below 2 MiB.
 */
export const STAGE_BYTES = 256 * 1024

export const WHOLE: Range = { offset: 0, limit: Number.POSITIVE_INFINITY }

/** Whether a range asks for all of a blob of that size. */
export const isWhole = ({ offset, limit }: Range, sizeBytes: number): boolean =>
  (offset === 0 || -offset >= sizeBytes) && limit >= sizeBytes

/** Where a range begins and ends in a blob of that size; OUT_OF_RANGE behind its last byte. `key` names the blob. */
export const extentOf = (
  range: Range,
  sizeBytes: number,
  key: string,
): { readonly offset: number; readonly end: number } => {
  const offset = range.offset < 0 ? Math.max(0, sizeBytes + range.offset) : range.offset
  if (offset > sizeBytes) throw pastEnd(key, offset, sizeBytes)
  return { offset, end: Math.min(sizeBytes, offset + range.limit) }
}

/** What a reader answers when the offset lies behind the last byte; `key` names the blob. */
export const pastEnd = (key: string, offset: number, sizeBytes: number): StatusError =>
  new StatusError('OUT_OF_RANGE', `cannot read blob ${key} from byte ${offset}: it has ${sizeBytes} bytes`)

/** Gives a path up without running it, so that every stage frees what it holds. */
export const discard = (path: ReadPath | WritePath): void => {
  for (const stage of path) {
    // A stage may still fail while it is torn down; nobody is left to tell, and an unheard 'error' would end the process.
    stage.on('error', () => {})
    stage.destroy()
  }
}
