/** A range of a blob, from byte `offset` to byte `end`. */
export interface Extent {
  readonly offset: number
  readonly end: number
}

export interface InOrderOptions {
  /** The length of every chunk but the last. */
  readonly chunkBytes: number
  /** Chunks requested before they are needed. */
  readonly ahead: number
  /** Requests chunk `index` and resolves with all its bytes. */
  readonly fetch: (index: number) => Promise<Buffer>
}

/** The bytes of a range of a blob stored in chunks of one size. Requests several chunks ahead. */
export async function* inOrder({ offset, end }: Extent, options: InOrderOptions): AsyncGenerator<Buffer> {
  const { chunkBytes, ahead, fetch } = options
  const last = Math.ceil(end / chunkBytes)
  const waiting: Promise<Buffer>[] = []
  let next = Math.floor(offset / chunkBytes)
  for (let index = next; index < last; index++) {
    for (; next < last && waiting.length < ahead; next++) waiting.push(heard(fetch(next)))
    const chunk = (await waiting.shift()) as Buffer
    const startsAt = index * chunkBytes
    yield chunk.subarray(Math.max(0, offset - startsAt), end - startsAt)
  }
}

/** Prevents unhandled rejections of prefetched chunks when the reader stops early. */
const heard = <T>(work: Promise<T>): Promise<T> => {
  work.catch(() => {})
  return work
}
