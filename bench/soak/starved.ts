/** How long the server's main thread had waited for a processor, all in all, at a moment. */
export interface Waited {
  /** Milliseconds since the epoch. */
  readonly atMs: number
  readonly waitedMs: number
}

/** How long a health probe may take. */
const PROBE_MS = 5000
/** Of the time in which a probe was to answer: beyond it the machine was too busy for any answer in time. */
const MAX_WAITED_SHARE = 0.5

const LATE_PROBE = /no answer in time/

/** Which share of the time before a moment, as long as a probe may take, the server waited for a processor; 0 if unknown. */
export const waitedShare = (history: readonly Waited[], untilMs: number): number => {
  const before = history.findLast(({ atMs }) => atMs <= untilMs - PROBE_MS)
  const after = history.find(({ atMs }) => atMs >= untilMs) ?? history.at(-1)
  if (before === undefined || after === undefined || after.atMs <= before.atMs) return 0
  return (after.waitedMs - before.waitedMs) / (after.atMs - before.atMs)
}

/** Whether a log line reports a probe that was late while the server hardly got a processor. Its time comes first. */
export const isStarved = (line: string, history: readonly Waited[]): boolean =>
  LATE_PROBE.test(line) && waitedShare(history, Date.parse(line.split(' ', 1)[0] ?? '')) > MAX_WAITED_SHARE
