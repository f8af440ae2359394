/** Like `Promise.all`, but rejects only after all have settled: for work that uses what its caller owns. */
export const allOf = async <T>(work: Iterable<Promise<T>>): Promise<T[]> => {
  const all = [...work]
  await Promise.allSettled(all)
  return Promise.all(all)
}
