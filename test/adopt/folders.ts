/** Folders as other caches write them. */
import { createHash } from 'node:crypto'
import { mkdirSync, utimesSync, writeFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { compressionOf } from '../../src/stream/compression/compression.js'

export const sha256 = (bytes: Buffer): string => createHash('sha256').update(bytes).digest('hex')

/** Writes a file, used `usedS` seconds after the epoch. */
export const writeUsed = (path: string, bytes: Buffer, usedS: number): void => {
  mkdirSync(dirname(path), { recursive: true })
  writeFileSync(path, bytes)
  utimesSync(path, usedS, usedS)
}

const CHUNK_BYTES = 1024 * 1024

/** A casblob: a frame that decoders skip, with the offsets of the chunks, and then a zstd frame for each chunk. */
export const casblobOf = (bytes: Buffer, isCompressed: boolean): Buffer => {
  const chunks: Buffer[] = []
  for (let at = 0; at < bytes.length; at += CHUNK_BYTES)
    chunks.push(compressionOf({ name: 'ZSTD' }).compressBytes(bytes.subarray(at, at + CHUNK_BYTES)))
  const content = isCompressed ? chunks : [bytes]
  const header = Buffer.alloc(29 + 8 * (content.length + 1))
  header.writeUInt32LE(0x184d2a50, 0)
  header.writeUInt32LE(header.length - 8, 4)
  header.writeBigInt64LE(BigInt(bytes.length), 8)
  header.writeUInt8(isCompressed ? 1 : 0, 16)
  header.writeUInt32LE(CHUNK_BYTES, 17)
  header.writeBigInt64LE(BigInt(content.length + 1), 21)
  let offset = header.length
  for (const [at, chunk] of [...content, Buffer.alloc(0)].entries()) {
    header.writeBigInt64LE(BigInt(offset), 29 + 8 * at)
    offset += chunk.length
  }
  return Buffer.concat([header, ...content])
}

export type BazelRemoteForm = 'plain' | 'identity' | 'zstd'

/** A folder of bazel-remote. Each blob is used a second after the one before. */
export class BazelRemoteFolder {
  readonly path: string
  #usedS = 1_000_000

  constructor(path: string) {
    this.path = path
    for (const kind of ['cas.v2', 'ac.v2', 'raw.v2']) mkdirSync(join(path, kind), { recursive: true })
  }

  /** Returns the path of the file. */
  blob(bytes: Buffer, form: BazelRemoteForm = 'plain', hash = sha256(bytes)): string {
    const file = join(
      this.path,
      'cas.v2',
      hash.slice(0, 2),
      `${hash}-${bytes.length}-1a2b3${form === 'plain' ? '.v1' : ''}`,
    )
    writeUsed(file, form === 'plain' ? bytes : casblobOf(bytes, form === 'zstd'), this.#usedS++)
    return file
  }

  result(actionHash: string, bytes: Buffer): void {
    writeUsed(join(this.path, 'ac.v2', actionHash.slice(0, 2), `${actionHash}-77`), bytes, this.#usedS++)
  }
}
