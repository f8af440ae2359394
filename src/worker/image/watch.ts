import { guardedTimeout } from '../../base/timers.js'
import { tooLarge } from './failure.js'
import { type TreeSize, treeSize } from './tree-size.js'

const FIRST_LOOK_MS = 250
/** A look at many files takes long: it may take this part of the time. */
const REST = 4

export interface Watched {
  readonly image: string
  readonly limits: TreeSize
  /** Called with the bytes that are there. */
  readonly onSize?: (bytes: number) => void
}

/**
 * Runs work that fills a directory, and ends it by its signal when the directory exceeds the limits. Rejects with FAILED_PRECONDITION
 * then. Looks a few times a second, so the limits can be exceeded briefly.
 */
export const watched = async <T>(
  work: (signal: AbortSignal) => Promise<T>,
  directory: string,
  { image, limits, onSize }: Watched,
  signal: AbortSignal,
): Promise<T> => {
  const excess = new AbortController()
  let timer: NodeJS.Timeout | undefined
  let isOver = false
  const look = async (): Promise<void> => {
    const sinceMs = performance.now()
    const size = await treeSize(directory, limits)
    if (isOver) return
    onSize?.(size.bytes)
    if (size.bytes > limits.bytes) excess.abort(tooLarge(image, `${limits.bytes} bytes`, 'max_image_bytes'))
    else if (size.entries > limits.entries) excess.abort(tooLarge(image, `${limits.entries} files`, 'max_image_files'))
    else timer = guardedTimeout(look, Math.max(FIRST_LOOK_MS, REST * (performance.now() - sinceMs)))
  }
  timer = guardedTimeout(look, FIRST_LOOK_MS)
  try {
    return await work(AbortSignal.any([signal, excess.signal]))
  } finally {
    isOver = true
    clearTimeout(timer)
  }
}
