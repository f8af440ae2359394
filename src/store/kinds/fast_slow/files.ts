import { createReadStream } from 'node:fs'
import { unlink } from 'node:fs/promises'
import { isStatus, StatusError } from '../../../base/status-error.js'
import {
  type BlobFiles,
  type BlobLease,
  type DirectoryBytes,
  type FinishedFile,
  type LocatedBlob,
  missingOf,
  outcomeOf,
  type ReservedFile,
  type Store,
} from '../../../blobs/store.js'
import type { SparingLog } from '../../../log/sparing-log.js'
import type { Digest } from '../../../reapi/digest.js'
import type { Call } from '../../../rpc/call.js'
import { Blob } from '../../../stream/blob/blob.js'
import { STAGE_BYTES } from '../../../stream/path.js'
import type { Copies } from './copies.js'
import { absentIfAway, takenByNeither, warnNotCached } from './failures.js'
import type { SlowTouches } from './slow-touches.js'
import { isAway } from './slow-watch.js'
import type { AcknowledgedUploads } from './uploads/acknowledged.js'

export interface FilesParts {
  readonly fast: Store
  readonly slow: Store
  readonly copies: Copies
  /** Undefined if asking slow for a blob does not extend its lifetime. */
  readonly touches: SlowTouches | undefined
  /** Undefined if uploads are acknowledged by slow. */
  readonly acknowledged: AcknowledgedUploads | undefined
  readonly log: SparingLog
  readonly slowTakesUploads: boolean
  readonly fastTakesUploads: boolean
  /** Whether reads copy blobs from slow to fast. */
  readonly fillsFast: boolean
}

/** The files of fast, which `populate` fetches from slow. */
export class FastSlowFiles implements BlobFiles {
  readonly #files: BlobFiles
  readonly #parts: FilesParts

  constructor(files: BlobFiles, parts: FilesParts) {
    this.#files = files
    this.#parts = parts
  }

  /** Reports leased blobs to slow as used, because a worker links to them without a read. */
  async lease(digests: readonly Digest[], call: Call): Promise<BlobLease> {
    const lease = await this.#files.lease(digests, call)
    for (const digest of digests) this.#parts.touches?.served(digest, call)
    return lease
  }

  async locate(digest: Digest, isExecutable: boolean): Promise<LocatedBlob> {
    const located = await this.#files.locate(digest, isExecutable)
    return 'bytes' in located || !this.#slowHasAll ? located : { ...located, isOnlyCopy: false }
  }

  /** Whether slow had each blob before fast acknowledged it. */
  get #slowHasAll(): boolean {
    const { slow, slowTakesUploads, acknowledged } = this.#parts
    return slowTakesUploads && acknowledged === undefined && !slow.properties.keepsNothing
  }

  async populate(digest: Digest, call: Call): Promise<void> {
    const { slow, copies, fillsFast } = this.#parts
    if (slow.properties.keepsNothing) {
      throw new StatusError('NOT_FOUND', `blob ${digest.key} is not in the fast store, and there is no slow one`)
    }
    if (!fillsFast) {
      const found = `blob ${digest.key} is not in the fast store`
      throw new StatusError('FAILED_PRECONDITION', `${found}, and its fast_direction does not let reads fill it`)
    }
    await copies.populate(digest, call).catch((error: unknown) => absentIfAway(digest, error))
  }

  async populateTree(...[root, call, onArrived]: Parameters<NonNullable<BlobFiles['populateTree']>>): Promise<void> {
    const { fast, slow, log, fillsFast } = this.#parts
    if (slow.trees === undefined || !fillsFast) return
    if ((await missingOf(fast, [root], call)).length === 0) return
    const take = async (directories: readonly DirectoryBytes[]): Promise<void> => {
      const absent = new Set(
        await missingOf(
          fast,
          directories.map(({ digest }) => digest),
          call,
        ),
      )
      const entries = directories.filter(({ digest }) => absent.has(digest))
      onArrived?.(entries)
      await fast.putAll(
        entries.map(({ digest, bytes }) => ({ digest, blob: Blob.ofBytes(bytes) })),
        call,
      )
    }
    try {
      await slow.trees.read(root, take, call)
    } catch (error) {
      if (call.signal.aborted) throw error
      if (!isStatus(error, 'UNIMPLEMENTED') && !isStatus(error, 'NOT_FOUND') && !isAway(error)) {
        log.warn('a directory tree could not be fetched from the slow store at once', { digest: root.key, error })
      }
    }
  }

  drop(digest: Digest, call: Call): Promise<void> {
    return this.#files.drop(digest, call)
  }

  /** If slow accepts uploads, a blob too large for fast is just not cached. */
  async maxBlobBytes(call: Call): Promise<number> {
    return this.#parts.slowTakesUploads ? Number.POSITIVE_INFINITY : this.#files.maxBlobBytes(call)
  }

  reserve(call: Call): Promise<ReservedFile> {
    return this.#files.reserve(call)
  }

  /** Copies the file to slow first: once fast owns it, it may be evicted. */
  async adopt(digest: Digest, file: FinishedFile, call: Call): Promise<void> {
    const { slow, acknowledged, log, slowTakesUploads, fastTakesUploads } = this.#parts
    const { path, sizeBytes } = file
    const work = {
      put: () => this.#files.adopt(digest, file, call),
      giveUp: () => void unlink(path).catch(() => {}),
    }
    if (await acknowledged?.put(digest, sizeBytes, work, call)) return
    try {
      if (slowTakesUploads) {
        const blob = Blob.ofPath([createReadStream(path, { highWaterMark: STAGE_BYTES })], { sizeBytes })
        await slow.put(digest, blob.verify(digest, { fault: 'client' }), call)
      } else if (!fastTakesUploads) throw takenByNeither(digest)
    } catch (error) {
      await unlink(path).catch(() => {})
      throw acknowledged?.inWords(error) ?? error
    }
    if (!fastTakesUploads) return unlink(path)
    const failure = await outcomeOf(this.#files.adopt(digest, file, call))
    if (failure === undefined) return
    if (!slowTakesUploads) throw failure
    warnNotCached(log, digest, failure, call)
  }
}
