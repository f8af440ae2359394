/** A blob: its bytes, or where they are. */
export interface BlobDocument {
  /** The key of the blob. */
  readonly _id: string
  readonly size: number
  readonly at: Date
  /** Changes whenever it is written; the start of the names of its chunks. */
  readonly version: string
  readonly data?: Uint8Array
  /** Bytes of each chunk but the last, of a blob that is in chunks. */
  readonly chunk?: number
}

/** A chunk of a large blob; nobody sees it before its blob names it. It is written once and never changed. */
export interface ChunkDocument {
  readonly _id: string
  readonly data: Uint8Array
}

/** Chunks that their blob does not name: not yet, or no longer. */
export interface OrphansDocument {
  /** The version whose chunks they are. */
  readonly _id: string
  /** The key of their blob. */
  readonly key: string
  /** From when on nobody needs them, unless the blob names them by then. */
  readonly until: Date
}

/** In the order of their indexes. */
export const chunkName = (version: string, index: number): string => `${version}:${String(index).padStart(8, '0')}`

/** The chunks of one upload, and no others. */
export const chunksOf = (version: string) => ({ _id: { $gte: `${version}:`, $lt: `${version};` } })

/** Some of them, up to but not chunk `end`. */
export const chunksBetween = (version: string, first: number, end: number) => ({
  _id: { $gte: chunkName(version, first), $lt: chunkName(version, end) },
})

/** The driver gives a Buffer, which its types do not know. */
export const bufferOf = (data: Uint8Array = NO_BYTES): Buffer =>
  Buffer.isBuffer(data) ? data : Buffer.from(data.buffer, data.byteOffset, data.length)

const NO_BYTES = Buffer.alloc(0)
