import { createReadStream } from 'node:fs'
import { chmod, type FileHandle, mkdtemp, open, rm, stat, unlink } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { Readable } from 'node:stream'
import { crc32 } from 'node:zlib'
import { fileFailure } from '../base/errno.js'
import { StatusError } from '../base/status-error.js'
import { Digest } from '../reapi/digest.js'
import type { DigestFunction } from '../reapi/digest-function.js'
import { type Call, cancellation } from '../rpc/call.js'
import type { BlobFiles, Store } from '../store/contract/store.js'
import { Blob } from '../stream/blob/blob.js'
import { STAGE_BYTES } from '../stream/path.js'

/** Content whose digest is not known before its end. */
export interface Unnamed {
  /** Its failures reject `putUnnamed` as they are. Destroyed in any case. */
  readonly source: Readable
  readonly digestFunction: DigestFunction
  /** More is RESOURCE_EXHAUSTED. */
  readonly maxBytes: number
  /** Sees all bytes in order. */
  readonly onBytes?: (bytes: Uint8Array) => void
  /** Called at the end, before anything is stored; an error that it throws refuses the content. */
  readonly check?: (digest: Digest) => void
}

/** Content up to this size stays in memory. */
const SMALL_BYTES = 64 * 1024
const READ_ONLY = 0o444

/**
 * Puts content into a CAS and returns its digest. Larger content waits in a file until its end: in the store if the store has local
 * files, which then adopts the file, else in the temporary folder of the machine. After a failure nothing remains.
 */
export const putUnnamed = async (cas: Store, unnamed: Unnamed, call: Call): Promise<Digest> => {
  const { source, digestFunction } = unnamed
  const spool = new Spool(cas.files, call)
  const hasher = digestFunction.createHasher()
  let sizeBytes = 0
  const abort = (): void => void source.destroy(cancellation(call.signal))
  call.signal.addEventListener('abort', abort, { once: true })
  try {
    if (call.signal.aborted) throw cancellation(call.signal)
    for await (const bytes of source as AsyncIterable<Buffer>) {
      sizeBytes += bytes.length
      if (sizeBytes > unnamed.maxBytes) throw tooLarge(unnamed.maxBytes)
      hasher.update(bytes)
      unnamed.onBytes?.(bytes)
      await spool.write(bytes)
    }
    const digest = Digest.ofHash(hasher, sizeBytes, digestFunction)
    unnamed.check?.(digest)
    await spool.moveTo(cas, digest)
    return digest
  } finally {
    call.signal.removeEventListener('abort', abort)
    source.destroy()
    await spool.close()
  }
}

const tooLarge = (maxBytes: number): StatusError =>
  new StatusError('RESOURCE_EXHAUSTED', `the content has more than ${maxBytes} bytes, expected at most that`)

/** Bytes that wait for their digest: in memory, and from SMALL_BYTES on in a file. */
class Spool {
  readonly #files: BlobFiles | undefined
  readonly #call: Call
  #pieces: Buffer[] = []
  #sizeBytes = 0
  #checksum = 0
  #file: { readonly handle: FileHandle; readonly path: string; readonly isSynced: boolean } | undefined
  #folder: string | undefined

  constructor(files: BlobFiles | undefined, call: Call) {
    this.#files = files
    this.#call = call
  }

  async write(bytes: Buffer): Promise<void> {
    this.#sizeBytes += bytes.length
    if (this.#file === undefined && this.#sizeBytes <= SMALL_BYTES) {
      // A stream may reuse its buffer.
      this.#pieces.push(Buffer.from(bytes))
      return
    }
    this.#file ??= await this.#open()
    const { handle } = this.#file
    for (const piece of [...this.#pieces, bytes]) await this.#append(handle, piece)
    this.#pieces = []
  }

  async moveTo(cas: Store, digest: Digest): Promise<void> {
    if (this.#file === undefined) {
      await cas.put(digest, Blob.ofBytes(Buffer.concat(this.#pieces)).assumeVerified(digest), this.#call)
      return
    }
    const { handle, path, isSynced } = this.#file
    try {
      if (isSynced) await handle.sync()
      await handle.close()
    } catch (error) {
      throw fileFailure(error, `could not write blob ${digest}`)
    }
    if (this.#folder === undefined && this.#files !== undefined) {
      await chmod(path, READ_ONLY)
      const { size: sizeBytes, mtimeMs } = await stat(path)
      const finished = { path, sizeBytes, checksum: this.#checksum, mtimeMs }
      // From here on the file belongs to the store.
      this.#file = undefined
      await this.#files.adopt(digest, finished, this.#call)
      return
    }
    const bytes = createReadStream(path, { highWaterMark: STAGE_BYTES })
    await cas.put(digest, Blob.ofPath([bytes], { sizeBytes: digest.sizeBytes }).assumeVerified(digest), this.#call)
  }

  /** Removes what has not been stored. */
  async close(): Promise<void> {
    const file = this.#file
    this.#file = undefined
    // Closed already if it was moved.
    await file?.handle.close().catch(() => {})
    if (this.#folder !== undefined) await rm(this.#folder, { recursive: true, force: true })
    else if (file !== undefined) await unlink(file.path).catch(() => {})
  }

  async #open() {
    try {
      const reserved = await this.#files?.reserve(this.#call)
      if (reserved === undefined) this.#folder = await mkdtemp(join(tmpdir(), 'remexec-'))
      const path = reserved?.path ?? join(this.#folder ?? '', 'content')
      return { handle: await open(path, 'wx', 0o600), path, isSynced: reserved?.isSynced ?? false }
    } catch (error) {
      throw fileFailure(error, 'could not make a file for the content')
    }
  }

  async #append(handle: FileHandle, bytes: Buffer): Promise<void> {
    this.#checksum = crc32(bytes, this.#checksum)
    try {
      await handle.writeFile(bytes)
    } catch (error) {
      throw fileFailure(error, 'could not write the content')
    }
  }
}
