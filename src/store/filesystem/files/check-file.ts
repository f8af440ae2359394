import { crc32 } from 'node:zlib'
import { STAGE_BYTES } from '../../../stream/path.js'
import { fileError } from '../file-error.js'
import type { Located, Shelf } from '../shelf.js'
import type { OpenFile } from './open-file.js'

/** `changed` when the blob was replaced or removed meanwhile, or its file is gone: then nothing is known of it. */
export type CheckOutcome = 'right' | 'damaged' | 'changed'

/**
 * Compares a blob's file with the checksum it was written with; a damaged one is dropped. `pace` is waited for in front of
 * every read, with how many bytes that takes.
 */
export const checkFile = async (
  shelf: Shelf,
  located: Located,
  pace: (bytes: number) => Promise<void> = async () => {},
): Promise<CheckOutcome> => {
  const file = await shelf.openFile(located)
  if (file === undefined) return 'changed'
  try {
    const { mtimeMs } = file.stat()
    const checksum = await shelf.checksumOf(located)
    if (checksum === undefined) return shelf.isAsLocated(located) ? 'damaged' : 'changed'
    const isRight = (await checksumOf(file, located, pace)) === checksum
    if (!shelf.isAsLocated(located)) return 'changed'
    if (isRight) shelf.vouch(located, { mtimeMs })
    else await shelf.damaged(located)
    return isRight ? 'right' : 'damaged'
  } finally {
    await file.close().catch(() => {})
  }
}

const checksumOf = async (
  file: OpenFile,
  { storedBytes, digest }: Located,
  pace: (bytes: number) => Promise<void>,
): Promise<number> => {
  const buffer = Buffer.allocUnsafeSlow(Math.min(STAGE_BYTES, storedBytes))
  let checksum = 0
  for (let at = 0; at < storedBytes; ) {
    await pace(Math.min(buffer.length, storedBytes - at))
    const bytesRead = await file.read(buffer, at).catch((error: unknown) => {
      throw fileError(error, `read blob ${digest.key}`)
    })
    if (bytesRead === 0) break
    checksum = crc32(buffer.subarray(0, bytesRead), checksum)
    at += bytesRead
  }
  return checksum
}
