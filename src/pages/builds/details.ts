import { LruCache } from '../../base/lru-cache.js'
import type { Builds } from '../../builds/builds.js'
import { DetailReader, type Details } from '../../builds/detail/details.js'
import type { Kept } from '../../builds/entry.js'
import { cancelledBy } from '../../rpc/call.js'
import { Semaphore } from '../../work/semaphore.js'
import { SharedWork } from '../../work/shared-work.js'
import { TimeSlices } from '../../work/time-slices.js'

/** Of the events of an invocation, before compression. Reading this much takes about a second. */
const MAX_READ_BYTES = 256 * 1024 * 1024
/** What an event counts besides its bytes, also one of which only the number was kept. */
const EVENT_BYTES = 64
/** Rows and lines that are kept for pages that are loaded again or have tabs, and those of one more build that has very many. */
const MAX_KEPT_ROWS = 200_000
/** Longer logs are read by one reader after the other. */
const MAX_READS = 2
/** Of the event loop, for all logs that are read. */
const SLICE_MS = 5

/** What pages show of an invocation, read from its log when somebody looks, and kept for a while. */
export class DetailsOfBuilds {
  readonly #builds: Builds
  readonly #maxReadBytes: number
  readonly #slices: TimeSlices
  readonly #kept = new LruCache<Details>(MAX_KEPT_ROWS)
  /** The last one that is too large to be beside others: without it, each tab of the largest builds would take a second. */
  #largest: { readonly version: string; readonly details: Details } | undefined
  readonly #reading = new SharedWork<Details>()
  readonly #reads = new Semaphore({ permits: MAX_READS })

  constructor(builds: Builds, maxReadBytes = MAX_READ_BYTES, slices = new TimeSlices(SLICE_MS)) {
    this.#builds = builds
    this.#maxReadBytes = maxReadBytes
    this.#slices = slices
  }

  /** Rejects with CANCELLED when the signal aborts; the log is read on if others wait for it. */
  async of({ key, sizeBytes }: Kept, reader: AbortSignal): Promise<Details> {
    const version = `${key} ${sizeBytes}`
    const known = this.#kept.get(version) ?? (this.#largest?.version === version ? this.#largest.details : undefined)
    if (known !== undefined) return known
    return this.#reading.run(version, reader, async (signal) => {
      const release = await this.#reads.acquire('the events of a build', signal)
      try {
        const details = await this.#read(key, signal)
        const weight = weightOf(details)
        if (weight <= MAX_KEPT_ROWS / 4) this.#kept.set(version, details, weight)
        else this.#largest = { version, details }
        return details
      } finally {
        release()
      }
    })
  }

  async #read(key: string, signal: AbortSignal): Promise<Details> {
    const reader = new DetailReader()
    let readBytes = 0
    for await (const records of this.#builds.records(key)) {
      for (const record of records) {
        for (const _ of reader.take(record)) {
          const pause = this.#pause(signal)
          if (pause !== undefined) await pause
        }
        const pause = this.#pause(signal)
        if (pause !== undefined) await pause
        readBytes += record.event.length + EVENT_BYTES
        if (readBytes >= this.#maxReadBytes) return reader.details(false)
      }
    }
    return reader.details(true)
  }

  /** Undefined while the turn has time left, so that small events cost no promise. */
  #pause(signal: AbortSignal): Promise<void> | undefined {
    const cancelled = cancelledBy({ signal })
    if (cancelled !== undefined) throw cancelled
    return this.#slices.step()
  }
}

/** A row takes about a hundred bytes; so do two characters of a secret that is looked for. */
const weightOf = ({
  targets,
  tests,
  failures,
  console,
  commandLines,
  secretCharacters,
  artifacts,
}: Details): number => {
  const attempts = tests.reduce((sum, test) => sum + test.attempts.length, 0)
  const words = commandLines.reduce(
    (sum, line) => sum + line.sections.reduce((all, one) => all + one.words.length, 0),
    0,
  )
  const spans = console.lines.reduce((sum, line) => sum + 1 + line.spans.length, 0)
  return (
    100 +
    targets.length +
    artifacts.fileCount * 2 +
    tests.length +
    attempts +
    failures.length * 10 +
    spans +
    words +
    secretCharacters / 2
  )
}
