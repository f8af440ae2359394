import { type FileHandle, open, readFile, rename } from 'node:fs/promises'
import { dirname } from 'node:path'
import { errnoOf, fileFailure } from '../../../../base/errno.js'
import { StatusError } from '../../../../base/status-error.js'
import { syncFolder } from '../../../../files/sync-folder.js'
import type { BlobIndex } from '../../../index/blob-index.js'
import { WORD } from '../../../index/probe.js'
import { CHUNK_SLOTS, RECORD_WORDS, SLOTS_MAX, TAIL_WORDS } from '../../../index/records.js'
import type { IndexImage } from '../../../index/restore.js'
import type { LogPosition } from '../records/record-log.js'
import { bytesOf, fill, readSection, writeSection } from './sections.js'

const MAGIC = 0x3458_4352
/** Magic number, and the id of the boot in which the file was written. */
const PREFIX_WORDS = 5
/**
 * Number of slots, the oldest and the newest slot, whether they are ordered, the log's segment (two words) and offset.
 */
const HEAD_WORDS = 7

/** The content of a checkpoint apart from the index. */
export interface CheckpointFacts {
  /** Whether nothing changed while it was written. If so the order of use is exact, else only to the second. */
  readonly isOrdered: boolean
  /** The checkpoint covers no record of the log from here on. */
  readonly logEnd: LogPosition
}

/** The result of reading the checkpoint of an earlier run. */
export interface Recovered {
  /** Undefined if the checkpoint is missing or damaged. */
  readonly logEnd: LogPosition | undefined
  /** Whether the machine has not been restarted since. If so, everything written then is complete. */
  readonly isSameBoot: boolean
  /** Whether there was a checkpoint that is damaged. Nothing of it was used. */
  readonly isRefused: boolean
}

/**
 * Writes the records of the index as they are in memory, one section at a time so that calls can proceed. The file
 * replaces the earlier one when it is complete. 64 bytes per SHA256 blob.
 */
export const writeCheckpoint = async (
  index: BlobIndex,
  path: string,
  { isOrdered, logEnd }: CheckpointFacts,
): Promise<void> => {
  const nextPath = `${path}.next`
  const file = await open(nextPath, 'w', 0o644)
  try {
    await file.writeFile(bytesOf(Int32Array.of(MAGIC, ...(await bootWords()))))
    const { slotCount, oldest, newest, chunks, tails } = index.image
    const position = [logEnd.number | 0, Math.floor(logEnd.number / WORD), logEnd.offset]
    await writeSection(file, [Int32Array.of(slotCount, oldest, newest, Number(isOrdered), ...position)])
    for (const [at, chunk] of chunks.slice(0, chunksOf(slotCount)).entries()) {
      const tail = tails[at]
      const used = chunk.subarray(0, wordsIn(at, slotCount))
      await writeSection(file, tail === undefined ? [used] : [used, tail])
    }
    await file.datasync()
  } finally {
    await file.close()
  }
  await rename(nextPath, path)
  await syncFolder(dirname(path))
}

/** Fills an empty index from the checkpoint, if that is intact. */
export const readCheckpoint = async (index: BlobIndex, path: string): Promise<Recovered> => {
  const file = await openIfThere(path)
  if (file === undefined) return { logEnd: undefined, isSameBoot: false, isRefused: false }
  try {
    const prefix = new Int32Array(PREFIX_WORDS)
    const found = (await fill(file, [prefix])) && prefix[0] === MAGIC ? await readImage(file) : undefined
    if (found === undefined) return { logEnd: undefined, isSameBoot: false, isRefused: true }
    const { image, isOrdered, logEnd } = found
    const boot = await bootWords()
    const isSameBoot = boot.some((word) => word !== 0) && boot.every((word, at) => prefix[1 + at] === word)
    index.restore(image, isOrdered)
    return { logEnd, isSameBoot, isRefused: false }
  } finally {
    await file.close()
  }
}

const openIfThere = async (path: string): Promise<FileHandle | undefined> => {
  try {
    const file = await open(path, 'r')
    if (!(await file.stat()).isDirectory()) return file
    await file.close()
  } catch (error) {
    if (errnoOf(error) === 'ENOENT') return undefined
    throw fileFailure(error, `could not read the checkpoint ${path}, expected a file the server may read and write`)
  }
  const text = `${path} is a directory, expected the checkpoint of a store: move it away, blobs are found again without it`
  throw new StatusError('FAILED_PRECONDITION', text)
}

/** Undefined when the file is incomplete or damaged. */
const readImage = async (file: FileHandle): Promise<(CheckpointFacts & { readonly image: IndexImage }) | undefined> => {
  const head = new Int32Array(HEAD_WORDS)
  if (!(await readSection(file, () => [head]))) return undefined
  const [slotCount = -1, oldest = 0, newest = 0, ordered = 0, low = 0, high = 0, offset = 0] = head
  if (slotCount < 0 || slotCount > SLOTS_MAX) return undefined
  const chunks: Int32Array[] = []
  const tails: (Int32Array | undefined)[] = []
  for (let at = 0; at < chunksOf(slotCount); at++) {
    const chunk = new Int32Array(CHUNK_SLOTS * RECORD_WORDS)
    const used = chunk.subarray(0, wordsIn(at, slotCount))
    const arraysFor = (wordCount: number): readonly Int32Array[] => {
      if (wordCount <= used.length) return [used]
      const tail = new Int32Array(CHUNK_SLOTS * TAIL_WORDS)
      tails[at] = tail
      return [used, tail]
    }
    if (!(await readSection(file, arraysFor))) return undefined
    chunks.push(chunk)
  }
  const image = { slotCount, oldest, newest, chunks, tails }
  return { image, isOrdered: ordered === 1, logEnd: { number: high * WORD + (low >>> 0), offset } }
}

const chunksOf = (slotCount: number): number => Math.ceil(slotCount / CHUNK_SLOTS)

/** The number of words that the records of a chunk take. */
const wordsIn = (chunk: number, slotCount: number): number =>
  Math.min(CHUNK_SLOTS, slotCount - chunk * CHUNK_SLOTS) * RECORD_WORDS

/** Identifies the boot of the machine; all zero where the system has no such id. */
const bootWords = async (): Promise<readonly number[]> => {
  const text = await readFile('/proc/sys/kernel/random/boot_id', 'utf8').catch((error: unknown) => {
    if (errnoOf(error) === 'ENOENT') return ''
    throw error
  })
  const id = Buffer.from(text.replaceAll('-', '').trim(), 'hex')
  return [0, 4, 8, 12].map((at) => (id.length === 16 ? id.readInt32LE(at) : 0))
}
