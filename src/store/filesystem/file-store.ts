import { open, stat, unlink } from 'node:fs/promises'
import { type Call, cancellation } from '../../base/call.js'
import { errnoOf } from '../../base/errno.js'
import type { HealthStatus } from '../../base/health.js'
import { StatusError } from '../../base/status-error.js'
import { boundedMap } from '../../base/work/bounded-map.js'
import type { Turns } from '../../base/work/turns.js'
import type { Digest } from '../../reapi/digest.js'
import type { DigestBatch } from '../../reapi/digest-batch.js'
import { Blob } from '../../stream/blob/blob.js'
import { readFile, streamsOf } from '../../stream/blob/form.js'
import { deliver } from '../../stream/collect.js'
import { join } from '../../stream/join.js'
import { extentOf, isWhole, type Range } from '../../stream/path.js'
import type { StoreUsage } from '../meter.js'
import { BaseStore, type BlobEntry, type Outcomes, outcomeOf } from '../store.js'
import { fileError } from './file-error.js'
import { feedFile } from './files/feed-file.js'
import { FileSink, tooLargeToKeep } from './files/file-sink.js'
import { FilePart } from './files/file-source.js'
import type { FolderSyncs } from './files/folder-syncs.js'
import { LinkedFiles } from './files/linked-files.js'
import type { OpenFile } from './files/open-file.js'
import { placeFile } from './files/place-file.js'
import type { Inspection } from './inspection.js'
import { ATTEMPTS_MAX, type Located, notFound } from './located.js'
import type { Shelf } from './shelf.js'
import type { Patrol } from './upkeep/patrol.js'
import type { Shortages } from './upkeep/shortages.js'

/** Up to here a part of a file is read while it is opened: open, read, close, and no stream that holds a descriptor. */
const READ_AT_ONCE_BYTES = 64 * 1024

/** How many blobs that are not small are written at a time. */
const WRITE_LANES = 16

export interface FilesystemStoreParts {
  readonly inspection: Inspection
  /** To write to a file. */
  readonly turns: Turns
  /** Read from a file at a time. */
  readonly bufferBytes: number
  /** Up to here a blob is kept among the records. */
  readonly smallBytes: number
  /** Set where a finished write has to survive a power loss. */
  readonly syncs: FolderSyncs | undefined
  readonly patrol: Patrol
  readonly shortages: Shortages
}

/**
 * Keeps small blobs as records of a log and larger ones as files. Files are opened by `get` itself, because only the disk
 * knows whether the blob is still there and NOT_FOUND must come before the blob, which holds the descriptor until it was
 * read or is discarded.
 *
 * What it promises: a `put` that resolved survives the end of the process however it comes (kill -9 included). With
 * `syncs` it survives a power loss too; without, that may take the last seconds of writes with it, and a file it cut
 * short is noticed and is a miss. Bytes that are not those that were written are given away at most once as a whole: of
 * records never, of a file that nobody has read since the start with an error behind them.
 */
export class FilesystemStore extends BaseStore {
  override readonly files: LinkedFiles
  readonly #shelf: Shelf
  readonly #parts: FilesystemStoreParts
  #isClosed = false

  constructor(shelf: Shelf, parts: FilesystemStoreParts) {
    super()
    this.#shelf = shelf
    this.#parts = parts
    this.files = new LinkedFiles(shelf, parts.inspection)
  }

  async findMissing(digests: DigestBatch, _call: Call): Promise<DigestBatch> {
    return this.#shelf.index.missing(digests)
  }

  async get(digest: Digest, range: Range, _call: Call): Promise<Blob> {
    for (let attempt = 1; attempt <= ATTEMPTS_MAX; attempt++) {
      const located = this.#shelf.locate(digest)
      extentOf(range, located.storedBytes, digest.key)
      if (located.isInline) {
        const bytes = await this.#parts.inspection.readInline(located).catch((error: unknown) => {
          throw fileError(error, `read blob ${digest.key}`)
        })
        if (bytes !== undefined) return Blob.ofPart(bytes, range, digest.key)
      } else {
        const file = await this.#parts.inspection.openFile(located)
        const blob = file && (await this.#blobOf(file, located, range))
        if (blob !== undefined) return blob
      }
    }
    throw notFound(digest)
  }

  async put(digest: Digest, blob: Blob, { signal }: Call): Promise<void> {
    if (signal.aborted) {
      blob.discard()
      throw cancellation(signal)
    }
    const form = await blob.take()
    try {
      if (form.kind === 'bytes') await this.#putBytes(digest, form.bytes, signal)
      else if (form.kind === 'feed') await this.#putThrough(digest, signal, (sink) => feedFile(form.feed, sink, signal))
      else await this.#putThrough(digest, signal, (sink) => join([...streamsOf(form), sink], signal))
    } catch (error) {
      this.#parts.shortages.met(digest, error)
      throw error
    }
  }

  /** Small blobs are handed over together: what is written at a time is then all of them. */
  override async putAll(entries: readonly BlobEntry[], call: Call): Promise<Outcomes> {
    const isSmall = ({ blob: { sizeBytes } }: BlobEntry): boolean =>
      sizeBytes !== undefined && sizeBytes <= this.#parts.smallBytes
    const putOne = ({ digest, blob }: BlobEntry): Promise<StatusError | undefined> =>
      outcomeOf(this.put(digest, blob, call))
    const small = entries.map((entry) => (isSmall(entry) ? putOne(entry) : undefined))
    const others = await boundedMap(entries, WRITE_LANES, async (entry, at) =>
      small[at] === undefined ? putOne(entry) : undefined,
    )
    const outcomes = await Promise.all(small)
    return outcomes.map((outcome, at) => outcome ?? others[at])
  }

  remove(digest: Digest, _call: Call): Promise<void> {
    return this.#shelf.drop(digest)
  }

  async health({ signal }: Call): Promise<HealthStatus> {
    const { layout, index } = this.#shelf
    const { damagedCount } = this.#parts.inspection
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
      return { state: 'Failed', message: 'cannot write and delete a file', error: reason }
    }
    const { failure, hasGoneRound } = this.#parts.patrol
    if (failure !== undefined) {
      return { state: 'Failed', message: 'cannot read a folder of its files', error: failure }
    }
    const damage = damagedCount > 0 ? `, found ${damagedCount} damaged ones since the start` : ''
    const state = hasGoneRound ? 'Ok' : 'Initializing'
    return { state, message: `keeps ${index.count} blobs of ${index.bytes} bytes${damage}` }
  }

  override get usage(): StoreUsage {
    const { index, unlinker } = this.#shelf
    return { ...index.usage, evictFailureCount: unlinker.failureCount }
  }

  /** No commit succeeds from now on, so that the checkpoint written at the end stays true. */
  async close(): Promise<void> {
    this.#isClosed = true
    await this.#shelf.idle()
  }

  /** Undefined when the blob changed, or turned out damaged, while it was opened. */
  async #blobOf(file: OpenFile, located: Located, range: Range): Promise<Blob | undefined> {
    const { inspection } = this.#parts
    const { digest, storedBytes } = located
    const { offset, end } = extentOf(range, storedBytes, digest.key)
    const sizeBytes = end - offset
    const stats = file.stat()
    const part = new FilePart({
      ...{ file, key: digest.key, offset, end, bufferBytes: this.#parts.bufferBytes },
      onTorn: () => void this.#shelf.heal(located),
    })
    const isAtOnce = sizeBytes <= READ_AT_ONCE_BYTES
    const isUnchecked = isWhole(range, storedBytes) && !inspection.trusts(located, stats)
    if (inspection.suspects(located, stats) || (isUnchecked && isAtOnce)) {
      await part.close()
      await inspection.check(located)
      return undefined
    }
    if (!isUnchecked) {
      return isAtOnce ? Blob.ofBytes(await readFile(part), { offset }) : Blob.ofFile(part, { offset })
    }
    const checksum = await inspection.checksumOf(located)
    if (checksum === undefined) {
      await part.close()
      return undefined
    }
    const done = async (isRight: boolean): Promise<void> => {
      if (isRight) inspection.vouch(located, stats)
      else await inspection.damaged(located)
    }
    return Blob.ofPath([part.checked({ checksum, done })], { sizeBytes, offset })
  }

  async #putBytes(digest: Digest, bytes: Buffer, signal: AbortSignal): Promise<void> {
    if (!this.#shelf.index.fits(bytes.length)) throw tooLargeToKeep(digest.key, bytes.length)
    if (bytes.length <= this.#parts.smallBytes) await this.#commitSmall(digest, bytes, signal)
    else await this.#putThrough(digest, signal, (sink) => deliver(bytes, [sink], signal))
  }

  async #putThrough(digest: Digest, signal: AbortSignal, fill: (sink: FileSink) => Promise<void>): Promise<void> {
    const shelf = this.#shelf
    const { turns, smallBytes, syncs } = this.#parts
    const sink = new FileSink({
      key: digest.key,
      turns,
      smallBytes,
      nextTempPath: () => shelf.layout.nextTempPath(),
      isSynced: syncs !== undefined,
      fits: (storedBytes) => shelf.index.fits(storedBytes),
    })
    await fill(sink)
    await sink.commit({
      bytes: (bytes) => this.#commitSmall(digest, bytes, signal),
      file: async (tempPath, file) => {
        if (this.#isClosed) throw closedStore(digest)
        await shelf.commitFile(digest, file, (path) => placeFile(path, tempPath, syncs))
      },
    })
  }

  async #commitSmall(digest: Digest, bytes: Buffer, signal: AbortSignal): Promise<void> {
    if (this.#isClosed) throw closedStore(digest)
    try {
      await this.#shelf.commitBytes(digest, bytes, signal)
    } catch (error) {
      throw fileError(error, `write blob ${digest.key}`)
    }
  }
}

const closedStore = ({ key }: Digest): StatusError =>
  new StatusError('UNAVAILABLE', `could not keep blob ${key}: the store is closed`)
