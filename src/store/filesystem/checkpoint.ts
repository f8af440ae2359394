import { type FileHandle, open, readFile, rename } from 'node:fs/promises'
import { setImmediate } from 'node:timers/promises'
import { crc32 } from 'node:zlib'
import { type BlobIndex, RECORD_WORDS_MAX } from '../index/blob-index.js'
import { errnoOf } from './file-error.js'

const MAGIC = 0x3158_4352
const CLEAN_AT_BYTES = 4
/** Magic, whether it is clean, the boot it was written in. */
const HEADER_WORDS = 6
/** Before each block: how many words it has, and their CRC. A block of none ends the file. */
const BLOCK_HEADER_WORDS = 2
/** About 5,000 records and 3 ms a block. */
const BLOCK_WORDS = 1 << 16

/** What the checkpoint of an earlier run says. */
export interface Recovered {
  /** The index is exactly what is on disk: it was written at a clean stop and nobody has started since. */
  readonly isClean: boolean
  /** The machine has not been restarted since: what was written then is whole. */
  readonly isSameBoot: boolean
}

/**
 * Writes the index, least recently used first, a block at a time so that calls go on meanwhile; the file replaces the
 * earlier one when it is whole. 56 bytes a SHA256 blob.
 */
export const writeCheckpoint = async (index: BlobIndex, path: string, isClean: boolean): Promise<void> => {
  const nextPath = `${path}.next`
  const file = await open(nextPath, 'w', 0o644)
  try {
    const header = new Int32Array(HEADER_WORDS)
    header.set([MAGIC, isClean ? 1 : 0, ...(await bootWords())])
    await file.write(bytesOf(header))
    const block = new Int32Array(BLOCK_HEADER_WORDS + BLOCK_WORDS + RECORD_WORDS_MAX)
    let wordCount = 0
    // Blobs used while this runs come again at the end; a busy server must not keep it going for ever.
    let left = index.count
    for (const slot of index.slots()) {
      if (!isClean && left-- === 0) break
      wordCount += index.exportRecord(slot, block, BLOCK_HEADER_WORDS + wordCount)
      if (wordCount < BLOCK_WORDS) continue
      await writeBlock(file, block, wordCount)
      wordCount = 0
    }
    if (wordCount > 0) await writeBlock(file, block, wordCount)
    await writeBlock(file, block, 0)
    if (isClean) await file.datasync()
  } finally {
    await file.close()
  }
  await rename(nextPath, path)
}

/**
 * Fills an empty index from the checkpoint, as far as that is whole. What was not written at a clean stop is marked
 * doubtful: the disk may have changed since.
 */
export const readCheckpoint = async (index: BlobIndex, path: string): Promise<Recovered> => {
  const bytes = await readFile(path).catch((error: unknown) => {
    if (errnoOf(error) === 'ENOENT') return Buffer.alloc(0)
    throw error
  })
  const words = new Int32Array(bytes.buffer, bytes.byteOffset, bytes.length >>> 2)
  if (words[0] !== MAGIC) return { isClean: false, isSameBoot: false }
  const boot = await bootWords()
  const isSameBoot = boot.some((word) => word !== 0) && boot.every((word, at) => words[2 + at] === word)
  const blocks = [...blocksOf(words)]
  const isClaimedClean = words[1] === 1 && blocks.at(-1)?.length === 0
  for (const block of blocks) {
    // A block at a time: checking a million blobs at once would hold up everything for 100 ms.
    if ((crc32(bytesOf(block)) | 0) !== words[(block.byteOffset - words.byteOffset) / 4 - 1]) {
      for (const slot of index.slots()) index.setDoubtful(slot, true)
      return { isClean: false, isSameBoot }
    }
    for (let at = 0; at < block.length; ) at += index.importRecord(block, at, !isClaimedClean)
    await setImmediate()
  }
  return { isClean: isClaimedClean, isSameBoot }
}

/** From now on the disk may differ from the checkpoint. */
export const markUnclean = async (path: string): Promise<void> => {
  const file = await open(path, 'r+')
  try {
    await file.write(new Uint8Array(4), 0, 4, CLEAN_AT_BYTES)
  } finally {
    await file.close()
  }
}

/** As far as the file goes. */
function* blocksOf(words: Int32Array): Generator<Int32Array, void> {
  for (let at = HEADER_WORDS; at + BLOCK_HEADER_WORDS <= words.length; ) {
    const wordCount = words[at] as number
    const from = at + BLOCK_HEADER_WORDS
    if (wordCount < 0 || from + wordCount > words.length) return
    const block = words.subarray(from, from + wordCount)
    yield block
    if (wordCount === 0) return
    at = from + wordCount
  }
}

const writeBlock = async (file: FileHandle, block: Int32Array, wordCount: number): Promise<void> => {
  const content = block.subarray(BLOCK_HEADER_WORDS, BLOCK_HEADER_WORDS + wordCount)
  block[0] = wordCount
  block[1] = crc32(bytesOf(content)) | 0
  await file.writeFile(bytesOf(block.subarray(0, BLOCK_HEADER_WORDS + wordCount)))
}

const bytesOf = (words: Int32Array): Buffer => Buffer.from(words.buffer, words.byteOffset, words.byteLength)

/** Identifies the run of the machine; all zero where the system does not tell. */
const bootWords = async (): Promise<readonly number[]> => {
  const text = await readFile('/proc/sys/kernel/random/boot_id', 'utf8').catch((error: unknown) => {
    if (errnoOf(error) === 'ENOENT') return ''
    throw error
  })
  const id = Buffer.from(text.replaceAll('-', '').trim(), 'hex')
  return [0, 4, 8, 12].map((at) => (id.length === 16 ? id.readInt32LE(at) : 0))
}
