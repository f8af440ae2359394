import type { Clock } from '../clock.js'

/** Stands for what has not come in time. */
export const LATE = Symbol('late')

/**
 * What comes of work, or LATE when that takes longer than `limitMs`; then the work goes on, and whoever wants it to end has
 * to see to that. Counts by `clock` where one is given, else in real time, which also keeps the process alive until then.
 */
export const within = async <T>(limitMs: number, work: Promise<T>, clock?: Clock): Promise<T | typeof LATE> => {
  let stop = (): void => {}
  const late = new Promise<typeof LATE>((resolve) => {
    const tell = (): void => resolve(LATE)
    if (clock === undefined) {
      const timer = setTimeout(tell, limitMs)
      stop = () => clearTimeout(timer)
    } else stop = clock.every(limitMs, tell)
  })
  try {
    return await Promise.race([work, late])
  } finally {
    stop()
  }
}
