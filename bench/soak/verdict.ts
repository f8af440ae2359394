import type { Sample, WholeSample } from './server.js'

const MIB = 1 << 20
/** What may be more at the end than in the middle and still be no leak: about what two runs without one differ by. */
const MAX_RESIDENT_GROWTH = 0.1
const MAX_LIVE_GROWTH_BYTES = 2 * MIB
/** Of descriptors once every client has gone: stores that have grown keep the files of their records open, */
const MAX_MORE_DESCRIPTORS = 16
/** and a file store with packs so many of these (`store/kinds/filesystem/packs/packs.ts`). */
const MAX_OPEN_PACKS = 64

export interface Soaked {
  /** Before the first client came. */
  readonly before: WholeSample
  /** At even distances while clients were there. */
  readonly during: readonly Sample[]
  /** After the last client has gone. */
  readonly after: WholeSample
  /** What clients found wrong. */
  readonly failures: readonly string[]
  /** What the server said of failures of its own. */
  readonly errors: readonly string[]
  /** How long the server took to end; it waits for calls under way. */
  readonly stopMs: number
}

const MAX_STOP_MS = 5000

const median = (values: readonly number[]): number =>
  [...values].sort((a, b) => a - b)[values.length >> 1] ?? Number.NaN

/** The medians of the second and of the last third: the first one is that of a server that warms up. */
const thirds = (samples: readonly Sample[], of: (sample: Sample) => number): readonly [number, number] => {
  const third = Math.floor(samples.length / 3)
  return [median(samples.slice(third, 2 * third).map(of)), median(samples.slice(2 * third).map(of))]
}

const counted = (names: readonly string[]): string => {
  const counts = new Map<string, number>()
  for (const name of names) counts.set(name, (counts.get(name) ?? 0) + 1)
  return [...counts].map(([name, count]) => `${count} x ${name}`).join(', ')
}

const mib = (bytes: number): string => (bytes / MIB).toFixed(1)

/** What is wrong, each with its figures; nothing where the server held. */
export const faultsOf = ({ before, during, after, failures, errors, stopMs }: Soaked): string[] => {
  const faults: string[] = []
  const [resident, residentLast] = thirds(during, ({ residentBytes }) => residentBytes)
  const [live, liveLast] = thirds(during, ({ liveBytes }) => liveBytes)
  if (!(residentLast <= resident * (1 + MAX_RESIDENT_GROWTH))) {
    faults.push(`resident memory grew from ${mib(resident)} to ${mib(residentLast)} MiB`)
  }
  if (!(liveLast <= live + MAX_LIVE_GROWTH_BYTES)) {
    faults.push(`live memory grew from ${mib(live)} to ${mib(liveLast)} MiB`)
  }
  for (const what of ['calls', 'streams', 'connections'] as const) {
    if (after[what] > before[what]) faults.push(`${after[what]} ${what} are left, ${before[what]} were before`)
  }
  const packs = after.open.filter((name) => name.includes('/packs/')).length
  if (packs > MAX_OPEN_PACKS) faults.push(`${packs} packs are open, at most ${MAX_OPEN_PACKS} were expected`)
  if (after.descriptors - packs > before.descriptors + MAX_MORE_DESCRIPTORS) {
    faults.push(`${after.descriptors} descriptors are open, ${before.descriptors} were before: ${counted(after.open)}`)
  }
  if (stopMs > MAX_STOP_MS) faults.push(`it took ${Math.round(stopMs)} ms to end`)
  if (failures.length > 0) faults.push(`clients failed ${failures.length} times, first: ${failures[0]}`)
  if (errors.length > 0) faults.push(`the server told of ${errors.length} failures, first: ${errors[0]}`)
  return faults
}
