import { type FileHandle, open, rename } from 'node:fs/promises'
import { dirname } from 'node:path'
import { errnoOf } from '../../../base/errno.js'
import { StatusError } from '../../../base/status-error.js'
import type { BlobIndex } from '../../index/blob-index.js'
import type { IndexImage } from '../../index/image.js'
import { WORD } from '../../index/probe.js'
import { CHUNK_SLOTS, RECORD_WORDS, SLOTS_MAX, TAIL_WORDS } from '../../index/records.js'
import { PARTITIONS } from '../../index/slot-table.js'
import { fileError } from '../file-error.js'
import { syncFolder } from '../files/folder-syncs.js'
import type { LogPosition } from '../records/record-log.js'
import { bootWords } from './boot.js'
import { bytesOf, fill, readSection, writeSection } from './sections.js'

const MAGIC = 0x3358_4352
const CLEAN = 0x4e41_454c
const CLEAN_AT_BYTES = 4
/** Magic, whether it is clean, the boot it was written in. */
const PREFIX_WORDS = 6
/**
 * Slots, first free, oldest, newest, seed, whether files are synced, the log's segment (two words) and offset. Behind them the
 * lengths of partitions, their counts, and which chunks have a tail.
 */
const HEAD_WORDS = 9
/** Partitions a section: 1 MiB at a million blobs. */
const PARTITIONS_TOGETHER = 16

/** What the checkpoint of an earlier run says. */
export interface Recovered {
  /** The index is exactly what is on disk: it was written at a clean stop and nobody has started since. */
  readonly isClean: boolean
  /** The machine has not been restarted since: what was written then is whole. */
  readonly isSameBoot: boolean
  /** Every file it knows was brought onto the disk before it was believed. */
  readonly isSynced: boolean
  /** What the log has from here on the checkpoint does not know. Undefined without a checkpoint, or with a damaged one. */
  readonly logEnd: LogPosition | undefined
  /** There was a checkpoint, and it is damaged: nothing of it was used. */
  readonly isRefused: boolean
}

/** What a checkpoint says besides the index. */
export interface CheckpointFacts extends Pick<Recovered, 'isClean' | 'isSynced'> {
  readonly logEnd: LogPosition
}

/**
 * Writes the index as it lies in memory, a section at a time so that calls go on meanwhile; the file replaces the earlier
 * one when it is whole. 80 bytes a SHA256 blob at a clean stop, else 64: a table copied while it changes is of no use.
 */
export const writeCheckpoint = async (index: BlobIndex, path: string, facts: CheckpointFacts): Promise<void> => {
  const { isClean } = facts
  const nextPath = `${path}.next`
  const file = await open(nextPath, 'w', 0o644)
  try {
    await file.writeFile(bytesOf(Int32Array.of(MAGIC, isClean ? CLEAN : 0, ...(await bootWords()))))
    const { image } = index
    const partitions = isClean ? image.partitions : []
    const chunkCount = Math.ceil(image.slotCount / CHUNK_SLOTS)
    const hasTail = Array.from({ length: chunkCount }, (_, at) => image.tails[at] !== undefined)
    await writeSection(file, [headOf(image, facts, partitions, hasTail)])
    for (let at = 0; at < chunkCount; at++) {
      const chunk = image.chunks[at]?.subarray(0, slotsIn(at, image.slotCount) * RECORD_WORDS)
      await writeSection(file, [chunk, hasTail[at] ? image.tails[at] : undefined])
    }
    for (let at = 0; at < partitions.length; at += PARTITIONS_TOGETHER) {
      await writeSection(file, partitions.slice(at, at + PARTITIONS_TOGETHER))
    }
    await file.datasync()
  } finally {
    await file.close()
  }
  await rename(nextPath, path)
  await syncFolder(dirname(path))
}

/** Fills an empty index from the checkpoint, if that is whole. */
export const readCheckpoint = async (index: BlobIndex, path: string): Promise<Recovered> => {
  const file = await openIfThere(path)
  if (file === undefined) return { ...NOTHING, isRefused: false }
  try {
    const prefix = new Int32Array(PREFIX_WORDS)
    const found = (await fill(file, [prefix])) && prefix[0] === MAGIC ? await readImage(file) : undefined
    if (found === undefined) return { ...NOTHING, isRefused: true }
    const { image, isSynced, logEnd } = found
    const boot = await bootWords()
    const isSameBoot = boot.some((word) => word !== 0) && boot.every((word, at) => prefix[2 + at] === word)
    const isClean = prefix[1] === CLEAN && image.partitions.length > 0
    index.restore(image, isClean)
    return { isClean, isSameBoot, isSynced, logEnd, isRefused: false }
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
    throw fileError(error, `read the checkpoint ${path}, expected a file the server may read and write`)
  }
  const text = `${path} is a directory, expected the checkpoint of a store: move it away, blobs are found again without it`
  throw new StatusError('FAILED_PRECONDITION', text)
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

const NOTHING = { isClean: false, isSameBoot: false, isSynced: false, logEnd: undefined }

const headOf = (
  image: IndexImage,
  { isSynced, logEnd }: CheckpointFacts,
  partitions: IndexImage['partitions'],
  hasTail: readonly boolean[],
): Int32Array =>
  Int32Array.of(
    ...[image.slotCount, image.free, image.oldest, image.newest, image.seed],
    ...[Number(isSynced), logEnd.number | 0, Math.floor(logEnd.number / WORD), logEnd.offset],
    ...Array.from({ length: PARTITIONS }, (_, at) => partitions[at]?.length ?? 0),
    ...image.counts,
    ...hasTail.map(Number),
  )

interface Found extends Pick<CheckpointFacts, 'isSynced' | 'logEnd'> {
  readonly image: IndexImage
}

/** Undefined when the file is not whole. */
const readImage = async (file: FileHandle): Promise<Found | undefined> => {
  const { size } = await file.stat()
  const head = await readSection(file, (wordCount) =>
    wordCount >= 0 && wordCount * 4 <= size ? [new Int32Array(wordCount)] : [],
  )
  if (head === undefined) return undefined
  const [slotCount = -1, free = 0, oldest = 0, newest = 0, seed = 0, synced = 0, low = 0, high = 0, offset = 0] = head
  const chunkCount = Math.ceil(slotCount / CHUNK_SLOTS)
  const isOurs = slotCount >= 0 && slotCount <= SLOTS_MAX && head.length === HEAD_WORDS + 2 * PARTITIONS + chunkCount
  if (!isOurs || slotCount * RECORD_WORDS * 4 > size) return undefined
  const chunks: Int32Array[] = []
  const tails: (Int32Array | undefined)[] = []
  for (let at = 0; at < chunkCount; at++) {
    const chunk = new Int32Array(CHUNK_SLOTS * RECORD_WORDS)
    const tail = head[HEAD_WORDS + 2 * PARTITIONS + at] === 1 ? new Int32Array(CHUNK_SLOTS * TAIL_WORDS) : undefined
    const used = chunk.subarray(0, slotsIn(at, slotCount) * RECORD_WORDS)
    if ((await readSection(file, () => (tail === undefined ? [used] : [used, tail]))) === undefined) return undefined
    chunks.push(chunk)
    tails.push(tail)
  }
  const lengths = head.subarray(HEAD_WORDS, HEAD_WORDS + PARTITIONS)
  const counts = head.slice(HEAD_WORDS + PARTITIONS, HEAD_WORDS + 2 * PARTITIONS)
  const partitions = await readPartitions(file, lengths[0] === 0 ? lengths.subarray(0, 0) : lengths)
  if (partitions === undefined) return undefined
  const image = { slotCount, free, oldest, newest, seed, chunks, tails, partitions, counts }
  return { image, isSynced: synced === 1, logEnd: { number: high * WORD + (low >>> 0), offset } }
}

const readPartitions = async (file: FileHandle, lengths: Int32Array): Promise<Int32Array[] | undefined> => {
  const partitions: Int32Array[] = []
  for (let at = 0; at < lengths.length; at += PARTITIONS_TOGETHER) {
    const together = Array.from(lengths.subarray(at, at + PARTITIONS_TOGETHER), (length) => new Int32Array(length))
    if ((await readSection(file, () => together)) === undefined) return undefined
    partitions.push(...together)
  }
  return partitions
}

const slotsIn = (chunk: number, slotCount: number): number => Math.min(CHUNK_SLOTS, slotCount - chunk * CHUNK_SLOTS)
