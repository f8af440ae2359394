/** Of this process, whose descriptors they have. */
const underWay = new Set<Promise<unknown>>()

/** Begins the start of a program. From then on, and until it has started or failed, it may have each descriptor of this process open. */
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
 * Resolves when all starts that are under way now are over. What was written and closed by now nobody has open any more then, and it can
 * be executed: until then a program that was being started when it was written makes it a "Text file busy".
 */
export const startsSoFar = async (): Promise<void> => {
  await Promise.allSettled(underWay)
}
