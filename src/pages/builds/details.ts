import { LruCache } from '../../base/lru-cache.js'
import type { Builds } from '../../builds/builds.js'
import { DetailReader, type Details } from '../../builds/detail/details.js'
import type { Kept } from '../../builds/entry.js'
import { Semaphore } from '../../work/semaphore.js'
import { SingleFlight } from '../../work/single-flight.js'

/** Of the events of an invocation, before compression. Reading this much takes about a second. */
const MAX_READ_BYTES = 256 * 1024 * 1024
/** What an event counts besides its bytes, also one of which only the number was kept. */
const EVENT_BYTES = 64
/** Rows and lines that are kept for pages that are loaded again or have tabs. */
const MAX_KEPT_ROWS = 200_000
/** Longer logs are read by one reader after the other. */
const MAX_READS = 2

/** What pages show of an invocation, read from its log when somebody looks, and kept for a while. */
export class DetailsOfBuilds {
  readonly #builds: Builds
  readonly #maxReadBytes: number
  readonly #kept = new LruCache<Details>(MAX_KEPT_ROWS)
  readonly #reading = new SingleFlight<Details>()
  readonly #reads = new Semaphore({ permits: MAX_READS })

  constructor(builds: Builds, maxReadBytes = MAX_READ_BYTES) {
    this.#builds = builds
    this.#maxReadBytes = maxReadBytes
  }

  async of({ key, sizeBytes }: Kept): Promise<Details> {
    const version = `${key} ${sizeBytes}`
    const known = this.#kept.get(version)
    if (known !== undefined) return known
    // Shared by all readers, so it does not end with one of them.
    return this.#reading.run(version, async () => {
      const release = await this.#reads.acquire('the events of a build', NEVER)
      try {
        const details = await this.#read(key)
        this.#kept.set(version, details, weightOf(details))
        return details
      } finally {
        release()
      }
    })
  }

  async #read(key: string): Promise<Details> {
    const reader = new DetailReader()
    let readBytes = 0
    for await (const records of this.#builds.records(key)) {
      for (const record of records) {
        reader.take(record)
        readBytes += record.event.length + EVENT_BYTES
        if (readBytes >= this.#maxReadBytes) return reader.details(false)
      }
    }
    return reader.details(true)
  }
}

const NEVER = new AbortController().signal

const weightOf = ({ targets, tests, failures, console, commandLines }: Details): number => {
  const attempts = tests.reduce((sum, test) => sum + test.attempts.length, 0)
  const words = commandLines.reduce(
    (sum, line) => sum + line.sections.reduce((all, one) => all + one.words.length, 0),
    0,
  )
  return 100 + targets.length + tests.length + attempts + failures.length * 10 + console.lines.length + words
}
