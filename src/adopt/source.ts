import { constants } from 'node:fs'
import { type FileHandle, open } from 'node:fs/promises'
import { errnoOf, fileFailure } from '../base/errno.js'
import { StatusError } from '../base/status-error.js'
import { Blob } from '../stream/blob/blob.js'
import type { BlobFile } from '../stream/blob/file.js'
import { STAGE_BYTES } from '../stream/path.js'
import { FIXED_BYTES, parseCasblob } from './casblob.js'
import type { FoundFile } from './found.js'

/** The blob in a file. NOT_FOUND if it has vanished, DATA_LOSS if the file is not as its cache writes it. */
export const openFound = async ({ path, form, fileBytes }: FoundFile): Promise<Blob> => {
  const handle = await openUnnoticed(path)
  try {
    if (form === 'plain') return Blob.ofFile(new OtherFile(handle, 0, fileBytes))
    const first = Buffer.alloc(FIXED_BYTES)
    const { bytesRead } = await handle.read(first, 0, FIXED_BYTES, 0)
    const { headerBytes, contentBytes, encoding } = parseCasblob(first.subarray(0, bytesRead))
    if (headerBytes > fileBytes) throw new StatusError('DATA_LOSS', 'the file ends in its header')
    const file = new OtherFile(handle, headerBytes, fileBytes - headerBytes)
    return Blob.ofFile(file, { encoding }).as('IDENTITY', contentBytes)
  } catch (error) {
    await handle.close()
    throw sourceFailure(error)
  }
}

/**
 * Opens a file without changing its time of access, which is the order of eviction of the other cache. Only the owner of
 * the file may ask for that.
 */
const openUnnoticed = async (path: string): Promise<FileHandle> => {
  try {
    return await open(path, constants.O_RDONLY | constants.O_NOATIME).catch((error: unknown) => {
      if (errnoOf(error) === 'EPERM') return open(path, 'r')
      throw error
    })
  } catch (error) {
    throw errnoOf(error) === 'ENOENT' ? new StatusError('NOT_FOUND', 'the file has vanished') : sourceFailure(error)
  }
}

/** A failure of the other cache's file, and not of a store. */
const sourceFailure = (error: unknown): StatusError =>
  errnoOf(error) === undefined
    ? StatusError.from(error)
    : new StatusError('DATA_LOSS', fileFailure(error, 'the file cannot be read').message, { cause: error })

class OtherFile implements BlobFile {
  readonly bufferBytes = STAGE_BYTES
  readonly sizeBytes: number
  readonly #handle: FileHandle
  readonly #offset: number
  #closing: Promise<void> | undefined

  constructor(handle: FileHandle, offset: number, sizeBytes: number) {
    this.#handle = handle
    this.#offset = offset
    this.sizeBytes = sizeBytes
  }

  async read(into: Buffer, position: number): Promise<number> {
    const { bytesRead } = await this.#handle
      .read(into, 0, into.length, this.#offset + position)
      .catch((error: unknown) => {
        throw sourceFailure(error)
      })
    if (bytesRead === 0 && into.length > 0) throw new StatusError('DATA_LOSS', 'the file has become shorter')
    return bytesRead
  }

  close(): Promise<void> {
    this.#closing ??= this.#handle.close()
    return this.#closing
  }
}
