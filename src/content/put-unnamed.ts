import { randomUUID } from 'node:crypto'
import { type FileHandle, open, unlink } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { Readable } from 'node:stream'
import { crc32 } from 'node:zlib'
import { fileFailure } from '../base/errno.js'
import { freeBytesOf } from '../base/free-bytes.js'
import { LARGE_BYTES, lendBuffer } from '../base/lent-buffers.js'
import { StatusError } from '../base/status-error.js'
import { type BlobFiles, missingOf, putBytes, type ReservedFile, type Store } from '../blobs/store.js'
import { BytesInFlight, type InFlight } from '../ledger/bytes-in-flight.js'
import { Digest } from '../reapi/digest.js'
import type { DigestFunction } from '../reapi/digest-function.js'
import type { Call } from '../rpc/call.js'
import { Blob } from '../stream/blob/blob.js'
import type { BlobFile } from '../stream/blob/file.js'
import { pour } from '../stream/blob/pour.js'

interface UnnamedOptions {
  readonly digestFunction: DigestFunction
  /** More is RESOURCE_EXHAUSTED. */
  readonly maxBytes: number
  /** Sees all bytes in order, and may throw. */
  readonly onBytes?: (bytes: Uint8Array) => void
  /** Called at the end, before anything is stored; an error that it throws refuses the content. */
  readonly check?: ((digest: Digest) => void) | undefined
}

/** Content whose digest is not known before its end. */
export interface Unnamed extends UnnamedOptions {
  /** Its failures reject `putUnnamed` as they are. Destroyed in any case. */
  readonly source: Readable
}

export interface UnnamedBlob extends UnnamedOptions {
  readonly blob: Blob
  /** Up to this length the bytes are returned instead of stored. */
  readonly inlineBytes: number
}

/** Content that was put, or bytes that are few enough for the caller to keep. */
export type Kept = { readonly digest: Digest } | { readonly inline: Buffer }

/** Up to this length content stays in memory. */
const SMALL_BYTES = LARGE_BYTES
const READ_ONLY = 0o444

/** `putUnnamedBlob` of a stream. */
export const putUnnamed = async (cas: Store, { source, ...options }: Unnamed, call: Call): Promise<Digest> => {
  // An abort destroys it, in any of the stages of the blob; its failure then has no other listener.
  source.on('error', () => {})
  const blob = Blob.ofPath([source])
  return putWhole(cas, { ...options, blob }, call)
}

/** `putUnnamedBlob` of content of every length. */
export const putWhole = async (cas: Store, options: Omit<UnnamedBlob, 'inlineBytes'>, call: Call): Promise<Digest> => {
  const kept = await putUnnamedBlob(cas, { ...options, inlineBytes: -1 }, call)
  if ('digest' in kept) return kept.digest
  throw new Error('content was not stored')
}

/**
 * Puts content into a CAS and returns its digest. Larger content waits in a file until its end: in the store if the store has local
 * files, which then adopts the file, else in the temporary folder of the machine. After a failure nothing remains.
 */
export const putUnnamedBlob = async (cas: Store, unnamed: UnnamedBlob, call: Call): Promise<Kept> => {
  const form = await unnamed.blob.take()
  if (form.kind === 'bytes') return putUnnamedBytes(cas, form.bytes, unnamed, call)
  const content = new Content(cas, unnamed, call)
  try {
    await pour(form, (bytes) => content.take(bytes), call.signal)
    return await content.end()
  } finally {
    unnamed.blob.discard()
    await content.close()
  }
}

const putUnnamedBytes = async (cas: Store, bytes: Buffer, unnamed: UnnamedBlob, call: Call): Promise<Kept> => {
  const { digestFunction, maxBytes, inlineBytes, onBytes, check } = unnamed
  if (bytes.length > maxBytes) throw tooLarge(maxBytes)
  onBytes?.(bytes)
  const isKept = bytes.length <= inlineBytes
  if (isKept && check === undefined) return { inline: bytes }
  const digest = Digest.of(bytes, digestFunction)
  check?.(digest)
  if (isKept) return { inline: bytes }
  await cas.put(digest, Blob.ofBytes(bytes).assumeVerified(digest), call)
  return { digest }
}

/** Content that comes: a buffer, and a file behind it once the buffer is full. */
class Content {
  readonly #cas: Store
  readonly #options: UnnamedBlob
  readonly #call: Call
  readonly #hasher
  readonly #buffer = lendBuffer(SMALL_BYTES)
  #sizeBytes = 0
  #filledBytes = 0
  #spool: Spool | undefined

  constructor(cas: Store, options: UnnamedBlob, call: Call) {
    this.#cas = cas
    this.#options = options
    this.#call = call
    this.#hasher = options.digestFunction.createHasher(options.blob.sizeBytes)
  }

  take(bytes: Buffer): Promise<void> | undefined {
    const { maxBytes, onBytes } = this.#options
    try {
      this.#sizeBytes += bytes.length
      if (this.#sizeBytes > maxBytes) throw tooLarge(maxBytes)
      this.#hasher.update(bytes)
      onBytes?.(bytes)
    } catch (error) {
      return Promise.reject(error)
    }
    if (this.#filledBytes + bytes.length > SMALL_BYTES) return this.#spill(bytes)
    this.#filledBytes += bytes.copy(this.#buffer.bytes, this.#filledBytes)
    return undefined
  }

  async end(): Promise<Kept> {
    const { digestFunction, inlineBytes, check } = this.#options
    const digest = Digest.ofHash(this.#hasher, this.#sizeBytes, digestFunction)
    check?.(digest)
    if (this.#spool === undefined) {
      const bytes = Buffer.from(this.#buffer.bytes.subarray(0, this.#filledBytes))
      if (bytes.length <= inlineBytes) return { inline: bytes }
      await putBytes(this.#cas, digest, bytes, this.#call)
      return { digest }
    }
    await this.#flush(this.#spool)
    // A blob that is there counts as used, and need not be replaced by itself.
    const missing = await missingOf(this.#cas, [digest], this.#call)
    if (missing.length > 0) await this.#spool.commit(digest, this.#cas, this.#call)
    return { digest }
  }

  async close(): Promise<void> {
    this.#buffer.release()
    await this.#spool?.close()
  }

  async #spill(bytes: Buffer): Promise<void> {
    this.#spool ??= await Spool.open(this.#cas, this.#call)
    await this.#spool.growTo(this.#sizeBytes)
    for (let rest = bytes; rest.length > 0; ) {
      if (this.#filledBytes === SMALL_BYTES) await this.#flush(this.#spool)
      const taken = rest.copy(this.#buffer.bytes, this.#filledBytes)
      this.#filledBytes += taken
      rest = rest.subarray(taken)
    }
  }

  async #flush(spool: Spool): Promise<void> {
    await spool.write(this.#buffer.bytes.subarray(0, this.#filledBytes))
    this.#filledBytes = 0
  }
}

const tooLarge = (maxBytes: number): StatusError =>
  new StatusError('RESOURCE_EXHAUSTED', `the content has more than ${maxBytes} bytes, expected at most that`)

/** The content for stores without files, which waits in the folder for temporary files. */
const waiting = new WeakMap<Store, BytesInFlight>()

const reserve = (cas: Store, call: Call): ReservedFile => {
  const { maxBlobBytes } = cas.properties
  const bytes = waiting.get(cas) ?? new BytesInFlight({ maxBlobBytes, freeBytes: () => freeBytesOf(tmpdir()) })
  waiting.set(cas, bytes)
  const path = join(tmpdir(), `remexec-content-${randomUUID()}`)
  return { path, isSynced: false, inFlight: bytes.begin(call) }
}

/** A file for content: at a path reserved by the store if it has files, else in the folder for temporary files. */
class Spool {
  readonly #file: FileHandle
  readonly #path: string
  readonly #files: BlobFiles | undefined
  readonly #isSynced: boolean
  readonly #inFlight: InFlight
  #checksum = 0
  #sizeBytes = 0
  #isOpen = true
  #isGone = false

  private constructor(file: FileHandle, { path, isSynced, inFlight }: ReservedFile, files: BlobFiles | undefined) {
    this.#file = file
    this.#path = path
    this.#isSynced = isSynced
    this.#inFlight = inFlight
    this.#files = files
  }

  static async open(cas: Store, call: Call): Promise<Spool> {
    const { files } = cas
    try {
      const reserved = files === undefined ? reserve(cas, call) : await files.reserve(call)
      return new Spool(await open(reserved.path, 'wx+', files === undefined ? 0o600 : READ_ONLY), reserved, files)
    } catch (error) {
      throw fileFailure(error, 'could not make a file for the content')
    }
  }

  /** Before more is written. Rejects with RESOURCE_EXHAUSTED if uploads in progress hold too much. */
  growTo(sizeBytes: number): Promise<void> | undefined {
    return this.#inFlight.growTo(sizeBytes)
  }

  async write(bytes: Buffer): Promise<void> {
    this.#checksum = crc32(bytes, this.#checksum)
    try {
      for (let at = 0; at < bytes.length; ) at += (await this.#file.write(bytes, at)).bytesWritten
    } catch (error) {
      throw fileFailure(error, 'could not write the content')
    }
    this.#sizeBytes += bytes.length
  }

  async commit(digest: Digest, cas: Store, call: Call): Promise<void> {
    if (this.#files === undefined) {
      this.#isOpen = false
      await cas.put(digest, Blob.ofFile(new SpooledFile(this.#file, this.#sizeBytes)).assumeVerified(digest), call)
      return
    }
    if (this.#isSynced) await this.#file.sync()
    const { mtimeMs } = await this.#file.stat()
    this.#isOpen = false
    await this.#file.close()
    const file = { path: this.#path, sizeBytes: this.#sizeBytes, checksum: this.#checksum, mtimeMs }
    await this.#files.adopt(digest, file, call)
    this.#isGone = true
    // A quota counts blobs that are found.
    await missingOf(cas, [digest], call)
  }

  async close(): Promise<void> {
    if (this.#isOpen) await this.#file.close()
    if (!this.#isGone) await unlink(this.#path).catch(() => {})
    this.#inFlight.release()
  }
}

/** Spooled content as a blob for a store without files. */
class SpooledFile implements BlobFile {
  readonly bufferBytes = LARGE_BYTES
  readonly sizeBytes: number
  readonly #file: FileHandle
  #isClosed = false

  constructor(file: FileHandle, sizeBytes: number) {
    this.#file = file
    this.sizeBytes = sizeBytes
  }

  async read(into: Buffer, position: number): Promise<number> {
    const { bytesRead } = await this.#file.read(into, 0, into.length, position)
    if (bytesRead > 0 || into.length === 0) return bytesRead
    throw new StatusError('DATA_LOSS', `the file of the content ended after ${position} bytes`)
  }

  async close(): Promise<void> {
    if (this.#isClosed) return
    this.#isClosed = true
    await this.#file.close()
  }
}
