/** A blob: its bytes, or a reference to its chunks. */
export interface BlobDocument {
  /** The key of the blob. */
  readonly _id: string
  readonly size: number
  readonly at: Date
  /** Changes with every write; prefix of the names of its chunks. */
  readonly version: string
  readonly data?: Uint8Array
  /** Bytes of each chunk but the last, if the blob is stored in chunks. */
  readonly chunk?: number
}

/** A chunk of a large blob. Invisible until its blob refers to it; written once and immutable. */
export interface ChunkDocument {
  readonly _id: string
  readonly data: Uint8Array
}

/** Chunks without a blob that refers to them: not yet, or no longer. */
export interface OrphansDocument {
  /** The version that the chunks belong to. */
  readonly _id: string
  /** The key of their blob. */
  readonly key: string
  /** When the chunks may be deleted, unless the blob refers to them by then. */
  readonly until: Date
}

/** Names sort in the order of the indexes. */
export const chunkName = (version: string, index: number): string => `${version}:${String(index).padStart(8, '0')}`

/** Selects all chunks of one upload. */
export const chunksOf = (version: string) => ({ _id: { $gte: `${version}:`, $lt: `${version};` } })

/** Selects the chunks from `first` up to, not including, `end`. */
export const chunksBetween = (version: string, first: number, end: number) => ({
  _id: { $gte: chunkName(version, first), $lt: chunkName(version, end) },
})

/** The driver returns a Buffer, although its types say otherwise. */
export const bufferOf = (data: Uint8Array = NO_BYTES): Buffer =>
  Buffer.isBuffer(data) ? data : Buffer.from(data.buffer, data.byteOffset, data.length)

const NO_BYTES = Buffer.alloc(0)
