/** A blob that a store keeps. */
export interface ListedBlob {
  /** `HASH-SIZE`, after the kind of the key if that is no digest of a client. */
  readonly key: string
  /** Path of the store in the configuration. */
  readonly store: string
  /** What it takes there; less than its size in a store that compresses. */
  readonly storedBytes: number
  /** When it was last used, to the second. */
  readonly usedMs: number
}

export type ListOrder = 'largest' | 'oldest' | 'newest'

export interface ListQuestion {
  readonly order: ListOrder
  /** At most so many blobs. */
  readonly limit: number
  /** Only blobs that come after this one in the order. */
  readonly after?: ListedBlob | undefined
  readonly minBytes: number
  readonly maxBytes: number
  readonly usedFromMs: number
  readonly usedToMs: number
  /** Whether blobs of this kind are listed: the name of a digest function, or of a kind of keys. */
  readonly wantsKind: (name: string) => boolean
  /** The first hex digits of the hash. */
  readonly hashPrefix: string
}

/** The first blobs in the order of the question. Blobs that come or go meanwhile may be in it or not. */
export type ListBlobs = (question: ListQuestion) => Promise<readonly ListedBlob[]>

/** Blobs that are equal in the order are told apart by key and store, so that pages neither repeat nor skip one. */
export const compareListed = (order: ListOrder, a: ListedBlob, b: ListedBlob): number => {
  const first = order === 'largest' ? b.storedBytes - a.storedBytes : a.usedMs - b.usedMs
  if (first !== 0) return order === 'newest' ? -first : first
  if (a.key !== b.key) return a.key < b.key ? -1 : 1
  return a.store === b.store ? 0 : a.store < b.store ? -1 : 1
}
