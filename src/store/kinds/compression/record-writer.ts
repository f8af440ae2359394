import {
  encodeEnd,
  encodeHeader,
  encodeRecordHead,
  HEADER_BYTES,
  type Header,
  RECORD_BYTES,
  type RecordHead,
} from './container.js'
import { INDEX_FROM_BYTES, SeekIndex } from './seek-index.js'

/** Writes the stored form of one blob, record by record. Each call returns the bytes to write next. */
export class RecordWriter {
  readonly #header: Buffer
  readonly #index = new SeekIndex()
  #storedBytes = HEADER_BYTES

  constructor(header: Header) {
    this.#header = encodeHeader(header)
  }

  begin(): readonly Buffer[] {
    return [this.#header]
  }

  /** Notes that decoding can start at the next record, which is at `position` of the blob. */
  mark(position: number): void {
    this.#index.add({ position, storedAt: this.#storedBytes })
  }

  record(kind: RecordHead['kind'], ...parts: readonly Buffer[]): readonly Buffer[] {
    this.#storedBytes += parts.reduce((sum, { length }) => sum + length, RECORD_BYTES)
    return [encodeRecordHead(kind, ...parts), ...parts]
  }

  /** A record at which decoding can start. */
  markedRecord(position: number, kind: RecordHead['kind'], ...parts: readonly Buffer[]): readonly Buffer[] {
    this.mark(position)
    return this.record(kind, ...parts)
  }

  /** Ends a blob of that size. */
  end(sizeBytes: number): readonly Buffer[] {
    const indexAt = sizeBytes > INDEX_FROM_BYTES ? this.#storedBytes : 0
    const index = indexAt > 0 ? this.record('index', this.#index.encode(this.#header)) : []
    return [...index, encodeEnd({ sizeBytes, indexAt })]
  }
}
