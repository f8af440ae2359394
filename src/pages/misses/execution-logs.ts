import { LruCache } from '../../base/lru-cache.js'
import { isStatus } from '../../base/status-error.js'
import type { Builds } from '../../builds/builds.js'
import type { Kept } from '../../builds/entry.js'
import { readBlob } from '../../content/read-blob.js'
import { ExecutionLog } from '../../misses/execution-log.js'
import type { Call } from '../../rpc/call.js'
import type { StoresOf } from '../actions/stores.js'
import { blobOf } from '../builds/blob-text.js'
import { DetailsOfBuilds } from '../builds/details.js'
import type { Visit } from '../page.js'

/** Bazel's name for it among the logs of a build. */
const NAME = /^execution_log\.binpb\.zst$/
const MAX_BYTES = 32 * 1024 * 1024
/** Logs that were read, by their compressed size: each takes about thirty times that. */
const KEPT_BYTES = 8 * 1024 * 1024

interface LogsParts {
  readonly builds: Builds | undefined
  readonly storesOf: StoresOf
}

/** The compact execution logs that builds link from their events. */
export class ExecutionLogs {
  readonly #parts: LogsParts
  readonly #details: DetailsOfBuilds | undefined
  readonly #kept = new LruCache<Promise<ExecutionLog | undefined>>(KEPT_BYTES)

  constructor(parts: LogsParts) {
    this.#parts = parts
    this.#details = parts.builds && new DetailsOfBuilds(parts.builds)
  }

  /** Undefined if the build has none that the reader may read, or if it is too large or damaged. */
  async of(invocation: string, instance: string, visit: Visit, call: Call): Promise<ExecutionLog | undefined> {
    const found = this.#parts.builds?.withId(invocation) ?? []
    // A build may send its events without the name of the instance whose caches it uses.
    const kept =
      found.find(({ summary }) => summary.about.instance === instance) ??
      found.find(({ summary }) => visit.may('read_ac', summary.about.instance))
    return kept && this.#read(kept, visit, call)
  }

  async #read(kept: Kept, visit: Visit, call: Call): Promise<ExecutionLog | undefined> {
    const details = await this.#details?.of(kept, call.signal)
    const file = details?.toolLogs.find(({ name }) => NAME.test(name))
    const blob = file && blobOf(file)
    if (blob === undefined || blob.digest.sizeBytes > MAX_BYTES || !visit.may('read_cas', blob.instance))
      return undefined
    const cas = this.#parts.storesOf(blob.instance)?.cas
    if (cas === undefined) return undefined
    const key = `${blob.instance} ${blob.digest.key}`
    const known = this.#kept.get(key)
    if (known !== undefined) return known
    const read = readBlob(cas, blob.digest, call)
      .then((bytes) => ExecutionLog.read(bytes, call))
      .catch((error: unknown) => {
        this.#kept.delete(key)
        if (UNREADABLE.some((code) => isStatus(error, code))) return undefined
        throw error
      })
    this.#kept.set(key, read, blob.digest.sizeBytes)
    return read
  }
}

const UNREADABLE = ['NOT_FOUND', 'INVALID_ARGUMENT', 'RESOURCE_EXHAUSTED'] as const
