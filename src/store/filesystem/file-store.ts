import { open, stat, unlink } from 'node:fs/promises'
import { boundedMap } from '../../base/bounded-map.js'
import type { Call } from '../../base/call.js'
import type { HealthStatus } from '../../base/health.js'
import type { Log } from '../../base/log.js'
import { StatusError } from '../../base/status-error.js'
import type { Digest } from '../../reapi/digest.js'
import type { DigestBatch } from '../../reapi/digest-batch.js'
import { pastEnd, type Range, type ReadPath, type WritePath } from '../../stream/path.js'
import { ABSENT } from '../index/blob-index.js'
import { type BlobBytes, type Store, tooLarge, type WriteOutcomes } from '../store.js'
import { commitTogether } from './commit-together.js'
import { errnoOf, fileError } from './file-error.js'
import { FileSink, tooLargeToKeep } from './file-sink.js'
import { BytesSource, FileSource } from './file-source.js'
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
 * Keeps each blob as a file. Files are opened by `reader` itself, because only the disk knows whether the blob is still
 * there and NOT_FOUND must come before the stream; the path holds the descriptor until it ends or is discarded.
 *
 * What it promises: what `finish` was said of survives the end of the process however it comes (kill -9 included). With
 * `syncs` it survives a power loss too; without, that may take the last seconds of writes with it, and a file it cut
 * short is noticed and is a miss.
 */
export class FilesystemStore implements Store {
  readonly files: LinkedFiles
  readonly #shelf: Shelf
  readonly #slots: WriteSlots
  readonly #bufferBytes: number
  readonly #syncs: FolderSyncs | undefined
  readonly #smallWrites: SmallWrites
  #isClosed = false

  constructor(shelf: Shelf, { slots, bufferBytes, syncs, log }: FilesystemStoreParts) {
    this.#smallWrites = new SmallWrites(shelf.layout, log)
    this.#shelf = shelf
    this.#slots = slots
    this.#bufferBytes = bufferBytes
    this.#syncs = syncs
    this.files = new LinkedFiles(shelf)
  }

  findMissing(digests: readonly Digest[], _call: Call): Promise<Digest[]> {
    return this.#shelf.findMissing(digests)
  }

  findMissingIn(batch: DigestBatch, _call: Call): Promise<DigestBatch> {
    return this.#shelf.findMissingIn(batch)
  }

  async reader(digest: Digest, { offset, limit }: Range, _call: Call): Promise<ReadPath> {
    const { file, storedBytes } = await this.#shelf.open(digest)
    const end = Math.min(storedBytes, offset + limit)
    if (offset > storedBytes) {
      await closed(file)
      throw pastEnd(digest.key, offset, storedBytes)
    }
    if (end - offset <= SMALL_BYTES) return [new BytesSource(await readSmall(file, digest, offset, end))]
    const onTorn = (): void => void this.#shelf.drop(digest)
    return [new FileSource({ file, key: digest.key, offset, end, bufferBytes: this.#bufferBytes, onTorn })]
  }

  async writer(digest: Digest, _call: Call): Promise<WritePath> {
    const shelf = this.#shelf
    const sink = new FileSink({
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
    return [sink]
  }

  async readBytes(digest: Digest, maxBytes: number, _call: Call): Promise<Buffer> {
    const { recent, index, isScanning } = this.#shelf
    if (isScanning) return this.#readFile(digest, maxBytes)
    const known = recent.get(digest)
    if (known !== undefined) {
      index.use(digest)
      if (known.length > maxBytes) throw tooLarge(digest, known.length, maxBytes)
      return known
    }
    // A miss is an everyday answer: it is not passed through all that opens a file.
    if (index.find(digest) === ABSENT) throw notFound(digest)
    const begun = recent.begin(digest)
    let bytes: Buffer | undefined
    try {
      bytes = await this.#readFile(digest, maxBytes)
      return bytes
    } finally {
      if (begun !== undefined) recent.keep(digest, begun, bytes)
    }
  }

  async writeBytes(digest: Digest, bytes: Buffer, { signal }: Call): Promise<void> {
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

  async writeBlobs(blobs: readonly BlobBytes[], call: Call): Promise<WriteOutcomes> {
    const outcomes = new Array<StatusError | undefined>(blobs.length)
    const small: number[] = []
    const others: number[] = []
    const { index } = this.#shelf
    const areTogether = this.#syncs === undefined && !this.#slots.isLimited
    for (const [at, { bytes }] of blobs.entries()) {
      const isSmall = areTogether && bytes.length <= SMALL_BYTES && index.fits(bytes.length)
      ;(isSmall ? small : others).push(at)
    }
    const pick = (at: number): BlobBytes => blobs[at] as BlobBytes
    const writing = commitTogether(this.#shelf, small.map(pick), (files) => this.#placeAll(files, call))
    await boundedMap(others, WRITE_LANES, async (at) => {
      const { digest, bytes } = pick(at)
      outcomes[at] = await this.writeBytes(digest, bytes, call).then(
        () => undefined,
        (error: unknown) => StatusError.from(error),
      )
    })
    for (const [place, failure] of (await writing).entries()) {
      const at = small[place] as number
      if (failure !== undefined) outcomes[at] = fileError(failure, `write blob ${pick(at).digest.key}`)
    }
    return outcomes
  }

  async storedBytes(digest: Digest, _call: Call): Promise<number | undefined> {
    const slot = this.#shelf.findNow(digest)
    return slot === ABSENT ? undefined : this.#shelf.index.storedBytesOf(slot)
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

  async #placeAll(files: readonly SmallWrite[], { signal }: Call): Promise<readonly Written[]> {
    if (this.#isClosed) return files.map(({ name }) => closedStore(`write ${name}`))
    return this.#smallWrites.writeAll(files, signal)
  }

  async #readFile(digest: Digest, maxBytes: number): Promise<Buffer> {
    const { file, storedBytes } = await this.#shelf.open(digest)
    if (storedBytes <= maxBytes) return readSmall(file, digest, 0, storedBytes)
    await closed(file)
    throw tooLarge(digest, storedBytes, maxBytes)
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

const readSmall = async (file: OpenFile, digest: Digest, offset: number, end: number): Promise<Buffer> => {
  try {
    const buffer = Buffer.allocUnsafeSlow(end - offset)
    for (let filled = 0; filled < buffer.length; ) {
      const bytesRead = await readAt(file, buffer.subarray(filled), offset + filled, digest)
      if (bytesRead === 0) throw new StatusError('DATA_LOSS', `blob ${digest.key} was cut short while it was read`)
      filled += bytesRead
    }
    return buffer
  } finally {
    await closed(file)
  }
}

const readAt = (file: OpenFile, buffer: Buffer, position: number, digest: Digest): Promise<number> =>
  new Promise((resolve, reject) => {
    file.read(buffer, position, (error, bytesRead) => {
      if (error === null) resolve(bytesRead)
      else reject(fileError(error, `read blob ${digest.key}`))
    })
  })

const closed = (file: OpenFile): Promise<void> => new Promise((resolve) => file.close(() => resolve()))
