import type { Clock } from '../../../base/clock.js'
import type { Store } from '../../../blobs/store.js'
import type { Log } from '../../../log/log.js'
import { SparingLog } from '../../../log/sparing-log.js'
import type { Digest } from '../../../reapi/digest.js'
import { DigestBatch } from '../../../reapi/digest-batch.js'
import { type Call, internalCall } from '../../../rpc/call.js'

/** Minimum time between two reports of the same blob to slow. */
const PERIOD_MS = 5 * 60_000
const FLUSH_MS = 10_000

/** Bound on the blobs remembered per period, and on those that wait for a report. */
const BLOBS_MAX = 100_000
/** Blobs in one request. */
const BATCH_MAX = 10_000

const RATION = { lines: 1, periodMs: 60_000 }

export interface SlowTouchesParts {
  readonly slow: Store
  readonly clock: Clock
  readonly log: Log
  /** The name of the store in the log. */
  readonly path: string
}

interface Group {
  readonly instanceName: string
  readonly digests: Digest[]
}

/**
 * Reports to slow which blobs fast served, by FindMissing in the background. Otherwise slow would evict the most used
 * blobs, because it never sees their reads. A blob is reported at most once in five minutes. No read waits for it. If
 * too many blobs wait, further ones are dropped until they are read again.
 */
export class SlowTouches {
  readonly #parts: SlowTouchesParts
  readonly #log: SparingLog
  readonly #abort = new AbortController()
  readonly #stopTimers: readonly (() => void)[]
  /** Keys reported in this period, and in the one before. */
  #touched = new Set<string>()
  #touchedBefore = new Set<string>()
  /** By instance, digest function and kind of key. */
  #waiting = new Map<string, Group>()
  #waitingCount = 0
  #flushing: Promise<void> | undefined

  constructor(parts: SlowTouchesParts) {
    this.#parts = parts
    this.#log = new SparingLog(parts.log, parts.clock, RATION)
    this.#stopTimers = [
      parts.clock.every(FLUSH_MS, () => this.#flush()),
      parts.clock.every(PERIOD_MS, () => this.#turn()),
    ]
  }

  /** Called when fast served a blob, or has it for a worker to link. */
  served(digest: Digest, { instanceName }: Call): void {
    const key = instanceName === '' ? digest.key : `${instanceName}/${digest.key}`
    if (this.#touched.has(key) || this.#touchedBefore.has(key) || this.#waitingCount >= BLOBS_MAX) return
    if (this.#touched.size >= BLOBS_MAX) this.#turn()
    this.#touched.add(key)
    const name = `${digest.function.name} ${digest.describesContent} ${instanceName}`
    const group = this.#waiting.get(name) ?? { instanceName, digests: [] }
    if (group.digests.length === 0) this.#waiting.set(name, group)
    group.digests.push(digest)
    this.#waitingCount++
  }

  async close(): Promise<void> {
    for (const stop of this.#stopTimers) stop()
    this.#abort.abort()
    await this.#flushing
  }

  #turn(): void {
    this.#touchedBefore = this.#touched
    this.#touched = new Set()
  }

  #flush(): void {
    if (this.#waitingCount === 0 || this.#flushing !== undefined) return
    const groups = [...this.#waiting.values()]
    this.#waiting = new Map()
    this.#waitingCount = 0
    this.#flushing = this.#touch(groups)
      .catch((error: unknown) => {
        if (this.#abort.signal.aborted) return
        this.#log.warn('could not tell the slow store which blobs are in use', { store: this.#parts.path, error })
      })
      .finally(() => {
        this.#flushing = undefined
      })
  }

  async #touch(groups: readonly Group[]): Promise<void> {
    for (const { instanceName, digests } of groups) {
      const { slow, log } = this.#parts
      const { retentionMs } = slow.properties
      // Until the next report, fast serves the blob again without a word.
      const keepForMs = retentionMs > 0 && Number.isFinite(retentionMs) ? retentionMs + PERIOD_MS + FLUSH_MS : undefined
      const call = internalCall({ instanceName, signal: this.#abort.signal, log, keepForMs })
      for (let from = 0; from < digests.length; from += BATCH_MAX) {
        const batch = DigestBatch.of(digests.slice(from, from + BATCH_MAX))
        const areKeys = digests[0]?.describesContent === false
        await this.#parts.slow.findMissing(batch.as({ areKeys }), call)
      }
    }
  }
}
