/** Starts in progress. Each has a copy of this process's descriptors. */
const underWay = new Set<Promise<unknown>>()

/** Begins the start of a program. Until it has started or failed, it may have every descriptor of this process open. */
export const beginStart = async <T>(start: () => Promise<T>): Promise<T> => {
  const starting = start()
  underWay.add(starting)
  try {
    return await starting
  } finally {
    underWay.delete(starting)
  }
}

/**
 * Resolves when all starts in progress now are over. A file written and closed before this call can then be executed.
 * Until then, a program being started may still have the file open for writing, and an exec fails with "Text file
 * busy".
 */
export const startsSoFar = async (): Promise<void> => {
  await Promise.allSettled(underWay)
}
