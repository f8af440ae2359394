/** Part of a blob, from byte `offset` to byte `end`. */
export interface Extent {
  readonly offset: number
  readonly end: number
}

export interface InOrderOptions {
  /** The length of every chunk but the last. */
  readonly chunkBytes: number
  /** Chunks asked for before the first of them is needed. */
  readonly ahead: number
  /** Asks for chunk `index`, of which it answers all bytes. */
  readonly fetch: (index: number) => Promise<Buffer>
}

/** The bytes of a part that lies in chunks of one size, a few of which are on their way at a time. */
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

/** Who reads no further does not hear what becomes of what was asked for ahead. */
const heard = <T>(work: Promise<T>): Promise<T> => {
  work.catch(() => {})
  return work
}
