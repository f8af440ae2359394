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

/** Writes the stored form of one blob, record by record. */
export class RecordWriter {
  readonly #header: Buffer
  readonly #emit: (bytes: Buffer) => void
  readonly #index = new SeekIndex()
  #storedBytes = HEADER_BYTES

  constructor(header: Header, emit: (bytes: Buffer) => void) {
    this.#header = encodeHeader(header)
    this.#emit = emit
    emit(this.#header)
  }

  /** Notes that decoding may begin with the next record, which is at `position` in the blob. */
  mark(position: number): void {
    this.#index.add({ position, storedAt: this.#storedBytes })
  }

  record(kind: RecordHead['kind'], ...parts: readonly Buffer[]): void {
    this.#emit(encodeRecordHead(kind, ...parts))
    this.#storedBytes += RECORD_BYTES
    for (const part of parts) {
      this.#storedBytes += part.length
      this.#emit(part)
    }
  }

  /** Ends a blob of that size. */
  end(sizeBytes: number): void {
    const indexAt = sizeBytes > INDEX_FROM_BYTES ? this.#storedBytes : 0
    if (indexAt > 0) this.record('index', this.#index.encode(this.#header))
    this.#emit(encodeEnd({ sizeBytes, indexAt }))
  }
}
