import { isStatus } from '../../base/status-error.js'
import type { BlobFiles, DirectoryBytes } from '../../blobs/store.js'
import type { Digest } from '../../reapi/digest.js'
import { parseDirectory } from '../../reapi/directory.js'
import type { Call } from '../../rpc/call.js'
import { inBackground } from '../../work/in-background.js'
import { fetchBlobs } from './lease.js'

/** Half of what an attempt fetches at a time: the pages of the tree need room too. */
const LANES = { small: 128, large: 4 }
const BATCH = 256

/**
 * Fetches the files of Directories that come from a far server, while others are on the way. Best effort: the attempt fetches
 * what is missing afterwards (`leaseInputs`), and joins what is in flight.
 */
export class FilesAhead {
  readonly #files: BlobFiles
  readonly #call: Call
  readonly #named = new Set<string>()
  #waiting: Digest[] = []
  #isRunning = false
  #isOver = false

  constructor(files: BlobFiles, call: Call) {
    this.#files = files
    this.#call = call
  }

  /** Directories have arrived that were not here. */
  add(directories: readonly DirectoryBytes[]): void {
    if (this.#isOver) return
    for (const { digest, bytes } of directories) this.#add(filesIn(digest, bytes))
    if (this.#isRunning || this.#waiting.length === 0) return
    this.#isRunning = true
    inBackground(this.#run(), this.#call.log, 'files of an input tree could not be fetched ahead')
  }

  /** The tree is known. What is in flight goes on; nothing more is begun. */
  end(): void {
    this.#isOver = true
    this.#waiting = []
  }

  #add(digests: readonly Digest[]): void {
    for (const digest of digests) {
      if (digest.sizeBytes === 0 || this.#named.has(digest.key)) continue
      this.#named.add(digest.key)
      this.#waiting.push(digest)
    }
  }

  async #run(): Promise<void> {
    try {
      while (this.#waiting.length > 0 && !this.#call.signal.aborted) {
        const lease = await this.#files.lease(this.#waiting.splice(0, BATCH), this.#call)
        const { missing } = lease
        lease.release()
        if (!this.#isOver) await fetchBlobs(missing, this.#files, this.#call, LANES)
      }
    } catch {
      // The attempt meets the same failure, and reports it.
      this.end()
    } finally {
      this.#isRunning = false
    }
  }
}

/** None of a Directory that is not valid: the attempt reports it. */
const filesIn = (digest: Digest, bytes: Buffer): readonly Digest[] => {
  try {
    return parseDirectory(bytes, digest.function, '').files.map((file) => file.digest)
  } catch (error) {
    if (isStatus(error, 'INVALID_ARGUMENT')) return []
    throw error
  }
}
