import { open, stat, unlink } from 'node:fs/promises'
import { boundedMap } from '../../base/bounded-map.js'
import type { Call } from '../../base/call.js'
import type { HealthStatus } from '../../base/health.js'
import type { Log } from '../../base/log.js'
import { StatusError } from '../../base/status-error.js'
import type { Digest } from '../../reapi/digest.js'
import type { DigestBatch } from '../../reapi/digest-batch.js'
import { Blob } from '../../stream/blob/blob.js'
import { readFile, streamsOf } from '../../stream/blob/form.js'
import { cancellation, join } from '../../stream/join.js'
import { placeOf, type Range } from '../../stream/path.js'
import { ABSENT } from '../index/blob-index.js'
import { BaseStore, type BlobEntry, type Outcomes, outcomeOf } from '../store.js'
import { type BlobBytes, commitTogether } from './commit-together.js'
import { errnoOf, fileError } from './file-error.js'
import { FileSink, tooLargeToKeep } from './file-sink.js'
import { FilePart } from './file-source.js'
import type { FolderSyncs } from './folder-syncs.js'
import { LinkedFiles } from './linked-files.js'
import type { OpenFile } from './open-file.js'
import { placeFile, writeFileInPlace } from './place-file.js'
import { notFound, type Place, type Shelf } from './shelf.js'
import { type SmallWrite, SmallWrites, type Written } from './small-writes.js'
import type { WriteSlots } from './write-slots.js'

/** Up to here a blob is read while it is opened: open, read, close, and no stream that holds a descriptor. */
const SMALL_BYTES = 64 * 1024

/** How many blobs that are too large to be written together, or may not be, are written at a time. */
const WRITE_LANES = 16

export interface FilesystemStoreParts {
  readonly slots: WriteSlots
  /** Read from a file at a time. */
  readonly bufferBytes: number
  /** Set where a finished write has to survive a power loss. */
  readonly syncs: FolderSyncs | undefined
  readonly log: Log
}

/**
 * Keeps each blob as a file. Files are opened by `get` itself, because only the disk knows whether the blob is still
 * there and NOT_FOUND must come before the blob, which holds the descriptor until it was read or is discarded.
 *
 * What it promises: a `put` that resolved survives the end of the process however it comes (kill -9 included). With
 * `syncs` it survives a power loss too; without, that may take the last seconds of writes with it, and a file it cut
 * short is noticed and is a miss.
 */
export class FilesystemStore extends BaseStore {
  override readonly files: LinkedFiles
  readonly #shelf: Shelf
  readonly #slots: WriteSlots
  readonly #bufferBytes: number
  readonly #syncs: FolderSyncs | undefined
  readonly #smallWrites: SmallWrites
  #isClosed = false

  constructor(shelf: Shelf, { slots, bufferBytes, syncs, log }: FilesystemStoreParts) {
    super()
    this.#smallWrites = new SmallWrites(shelf.layout, log)
    this.#shelf = shelf
    this.#slots = slots
    this.#bufferBytes = bufferBytes
    this.#syncs = syncs
    this.files = new LinkedFiles(shelf)
  }

  findMissing(digests: DigestBatch, _call: Call): Promise<DigestBatch> {
    return this.#shelf.findMissing(digests)
  }

  async get(digest: Digest, range: Range, _call: Call): Promise<Blob> {
    const { recent, index, isScanning } = this.#shelf
    const known = isScanning ? undefined : recent.get(digest)
    if (known !== undefined) {
      index.use(digest)
      const { offset, end } = placeOf(range, known.length, digest.key)
      return Blob.ofBytes(end - offset === known.length ? known : known.subarray(offset, end), { offset })
    }
    // A miss is an everyday answer: it is not passed through all that opens a file.
    if (!isScanning && index.find(digest) === ABSENT) throw notFound(digest)
    const begun = isScanning ? undefined : recent.begin(digest)
    let whole: Buffer | undefined
    try {
      const { file, storedBytes } = await this.#shelf.open(digest)
      const { offset, end } = await placedIn(file, range, storedBytes, digest)
      if (end - offset > SMALL_BYTES) return Blob.ofFile(this.#part(file, digest, offset, end), { offset })
      const bytes = await readFile(this.#part(file, digest, offset, end))
      if (bytes.length === storedBytes) whole = bytes
      return Blob.ofBytes(bytes, { offset })
    } finally {
      if (begun !== undefined) recent.keep(digest, begun, whole)
    }
  }

  async put(digest: Digest, blob: Blob, { signal }: Call): Promise<void> {
    if (signal.aborted) {
      blob.discard()
      throw cancellation(signal)
    }
    const form = await blob.take()
    if (form.kind === 'bytes') await this.#putBytes(digest, form.bytes, signal)
    else await join([...streamsOf(form), this.#sink(digest)], signal)
  }

  /** Small blobs are put together; one that is still to be hashed, or is not at hand, has its turn beside them. */
  override async putAll(entries: readonly BlobEntry[], call: Call): Promise<Outcomes> {
    const outcomes = new Array<StatusError | undefined>(entries.length)
    const small: BlobBytes[] = []
    const smallAt: number[] = []
    const { index } = this.#shelf
    const areTogether = this.#syncs === undefined && !this.#slots.isLimited
    await boundedMap(entries, WRITE_LANES, async ({ digest, blob }, at) => {
      const isSmall = areTogether && blob.sizeBytes !== undefined && blob.sizeBytes <= SMALL_BYTES
      if (!isSmall || !index.fits(blob.sizeBytes)) {
        outcomes[at] = await outcomeOf(this.put(digest, blob, call))
        return
      }
      try {
        const bytes = await blob.bytes({ maxBytes: SMALL_BYTES, signal: call.signal })
        small[smallAt.push(at) - 1] = { digest, bytes }
      } catch (error) {
        outcomes[at] = StatusError.from(error)
      }
    })
    const written = await commitTogether(this.#shelf, small, (files) => this.#placeAll(files, call))
    for (const [place, failure] of written.entries()) {
      if (failure !== undefined) {
        outcomes[smallAt[place] as number] = fileError(failure, `write blob ${small[place]?.digest.key}`)
      }
    }
    return outcomes
  }

  remove(digest: Digest, _call: Call): Promise<void> {
    return this.#shelf.drop(digest)
  }

  async health({ signal }: Call): Promise<HealthStatus> {
    const structName = FilesystemStore.name
    const { layout, index, isScanning } = this.#shelf
    const tempPath = layout.nextTempPath()
    try {
      await stat(layout.contentPath)
      signal.throwIfAborted()
      const file = await open(tempPath, 'wx')
      try {
        await file.write(new Uint8Array(1))
      } finally {
        await file.close()
        await unlink(tempPath)
      }
      signal.throwIfAborted()
    } catch (error) {
      const reason = errnoOf(error) === 'ENOENT' ? 'its folder is gone' : fileError(error, 'write').message
      return { state: 'Failed', structName, message: 'cannot write and delete a file', error: reason }
    }
    const activity = isScanning ? ', looking for more' : ''
    return { state: 'Ok', structName, message: `keeps ${index.count} blobs of ${index.bytes} bytes${activity}` }
  }

  #part(file: OpenFile, digest: Digest, offset: number, end: number): FilePart {
    const onTorn = (): void => void this.#shelf.drop(digest)
    return new FilePart({ file, key: digest.key, offset, end, bufferBytes: this.#bufferBytes, onTorn })
  }

  #sink(digest: Digest): FileSink {
    const shelf = this.#shelf
    return new FileSink({
      key: digest.key,
      slots: this.#slots,
      nextTempPath: () => shelf.layout.nextTempPath(),
      isSynced: this.#syncs !== undefined,
      fits: (storedBytes) => shelf.index.fits(storedBytes),
      commit: (tempPath, storedBytes, mtimeMs) =>
        this.#commit(digest, storedBytes, async ({ name }) => {
          await placeFile(shelf.layout.pathOf(name), tempPath, this.#syncs)
          return mtimeMs
        }),
    })
  }

  async #putBytes(digest: Digest, bytes: Buffer, signal: AbortSignal): Promise<void> {
    const { index, layout } = this.#shelf
    if (!index.fits(bytes.length)) throw tooLargeToKeep(digest.key, bytes.length)
    await this.#slots.take(signal)
    try {
      const place: Place = ({ name, isNew }) => {
        if (this.#syncs === undefined) return this.#smallWrites.write({ name, isNew, bytes }, signal)
        const file = { tempPath: layout.nextTempPath(), path: layout.pathOf(name), bytes }
        return writeFileInPlace(file, this.#syncs)
      }
      await this.#commit(digest, bytes.length, place, bytes)
    } catch (error) {
      throw fileError(error, `write blob ${digest.key}`)
    } finally {
      this.#slots.release()
    }
  }

  async #placeAll(files: readonly SmallWrite[], { signal }: Call): Promise<readonly Written[]> {
    if (this.#isClosed) return files.map(({ name }) => closedStore(`write ${name}`))
    return this.#smallWrites.writeAll(files, signal)
  }

  /** No commit succeeds from now on, so that the checkpoint written at the end stays true. */
  async close(): Promise<void> {
    this.#isClosed = true
    await this.#shelf.idle()
    await this.#smallWrites.close()
  }

  async #commit(digest: Digest, storedBytes: number, place: Place, bytes?: Buffer): Promise<void> {
    const placeUnlessClosed: Place = async (placing) => {
      if (this.#isClosed) throw closedStore(`keep blob ${digest.key}`)
      return place(placing)
    }
    await this.#shelf.commit(digest, storedBytes, placeUnlessClosed, bytes)
  }
}

const closedStore = (attempted: string): StatusError =>
  new StatusError('UNAVAILABLE', `could not ${attempted}: the store is closed`)

/** Where a range is in a file, which is closed when it is nowhere. */
const placedIn = async (file: OpenFile, range: Range, storedBytes: number, { key }: Digest) => {
  try {
    return placeOf(range, storedBytes, key)
  } catch (error) {
    await new Promise<void>((resolve) => file.close(() => resolve()))
    throw error
  }
}
