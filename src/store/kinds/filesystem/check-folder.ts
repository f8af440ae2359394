import { createReadStream } from 'node:fs'
import { readdir } from 'node:fs/promises'
import { crc32 } from 'node:zlib'
import { errnoOf, inWords } from '../../../base/errno.js'
import { type Log, silentLog } from '../../../log/log.js'
import type { Digest } from '../../../reapi/digest.js'
import { STAGE_BYTES } from '../../../stream/path.js'
import { ABSENT, type BlobIndex } from '../../index/blob-index.js'
import type { Layout } from './layout.js'
import { type OpenFolder, openReadOnly } from './open-read-only.js'
import { offsetIn } from './records/location.js'
import type { RecordLog } from './records/record-log.js'
import { walkRecords } from './records/walk-records.js'

/** What was found in the folder of a store. */
export interface FolderReport {
  readonly blobs: { count: number; bytes: number; inFiles: number }
  /** One sentence for each blob, file of records or checkpoint that is damaged. */
  readonly damage: string[]
  /**
   * Whole blobs whose hash is their key, and others. A wrong hash is damage if the record says that the key is the hash of the content. Records
   * of earlier versions do not say it, and keys of an action cache, of encoded blobs and of isolated instances are no hashes. Those `ofItsLength`
   * have as many bytes as their key says: blobs of isolated instances, wrong blobs, and by chance others.
   */
  readonly hashes: { matching: number; differing: number; ofItsLength: number }
  /** The first keys of `ofItsLength`, then of `differing`. */
  readonly differing: string[]
  /** Files of blobs that the store does not know. It deletes them itself. */
  readonly unknown: { count: number; bytes: number }
}

export interface CheckFolderOptions {
  /** The folder is only served as a CAS, not to instances with `isolate`, and not below a store that encodes: each key is a hash. */
  readonly isCas?: boolean
}

/**
 * Reads everything that a store keeps in a folder, as a start of the store would find it, and changes nothing: every
 * record, the checksum of every blob, and its hash where keys are hashes. FAILED_PRECONDITION if the folder is in use or is
 * not one of a store. `progress` is called after each blob.
 */
export const checkFolder = async (
  contentPath: string,
  progress: (report: FolderReport) => void,
  { isCas = false }: CheckFolderOptions = {},
): Promise<FolderReport> => {
  const report: FolderReport = {
    blobs: { count: 0, bytes: 0, inFiles: 0 },
    damage: [],
    hashes: { matching: 0, differing: 0, ofItsLength: 0 },
    differing: [],
    unknown: { count: 0, bytes: 0 },
  }
  const folder = await openReadOnly(contentPath, damageLog(report))
  try {
    await checkRecords(folder.records, report)
    await checkBlobs(folder, report, progress, isCas)
    await countUnknown(folder.layout, folder.index, report)
  } finally {
    await folder.records.close()
  }
  return report
}

/** The store warns of damage that it can live with: a header that is not readable, a checkpoint that is refused. */
const damageLog = ({ damage }: FolderReport): Log => ({
  ...silentLog,
  warn: (message, fields) => {
    const values = Object.entries(fields ?? {}).map(([name, value]) => ` ${name}=${value}`)
    damage.push(`${message}:${values.join('')}`)
  },
})

/** Finds stretches of the log that are no records. The end of the last file may be half a record, after kill -9. */
const checkRecords = async (records: RecordLog, { damage }: FolderReport): Promise<void> => {
  for (const segment of records.segments) {
    let end = segment.firstOffset
    await walkRecords(segment, 0, (found) => {
      for (const { location, length } of found) {
        const begin = offsetIn(location)
        if (begin > end) damage.push(`${segment.path}: the bytes from ${end} to ${begin} are no records`)
        end = begin + length
      }
    })
  }
}

const checkBlobs = async (
  folder: OpenFolder,
  report: FolderReport,
  progress: (report: FolderReport) => void,
  isCas: boolean,
): Promise<void> => {
  const { blobs, damage, hashes, differing } = report
  const others: string[] = []
  for (const slot of folder.index.slots()) {
    const digest = folder.index.digestOf(slot)
    const checked = await checkBlob(folder, slot, digest)
    blobs.count += 1
    blobs.bytes += folder.index.storedBytesOf(slot)
    if (!folder.index.isInline(slot)) blobs.inFiles += 1
    if ('fault' in checked) damage.push(`blob ${digest.key}: ${checked.fault}`)
    else if (checked.hash === digest.hash) hashes.matching += 1
    else if ((isCas && !digest.isOwn) || folder.index.isHash(slot))
      damage.push(`blob ${digest.key}: its bytes are not those of its digest`)
    else {
      const isOfItsLength = folder.index.storedBytesOf(slot) === digest.sizeBytes && !digest.isOwn
      hashes.differing += 1
      if (isOfItsLength) hashes.ofItsLength += 1
      const keys = isOfItsLength ? differing : others
      if (keys.length < DIFFERING_MAX) keys.push(digest.key)
    }
    progress(report)
  }
  differing.push(...others.slice(0, DIFFERING_MAX - differing.length))
}

const DIFFERING_MAX = 10

type Checked = { readonly fault: string } | { readonly hash: string }

const checkBlob = async ({ layout, index, records }: OpenFolder, slot: number, digest: Digest): Promise<Checked> => {
  const [location, storedBytes] = [index.extraOf(slot), index.storedBytesOf(slot)]
  if (index.isInline(slot)) {
    const bytes = await records.read(location, digest, storedBytes)
    return bytes === undefined ? { fault: 'its record is damaged' } : { hash: digest.function.hash(bytes) }
  }
  if (index.kindOf(slot) === 'packed') {
    const record = await records.readPacked(location, digest)
    if (record === undefined) return { fault: 'the record with its place is damaged' }
    const { pack, offset } = record.place
    return checkFile(layout.packPath(pack), digest, { storedBytes, checksum: record.head.checksum, offset })
  }
  const head = await records.readHead(location, digest)
  if (head === undefined) return { fault: 'the record with its checksum is damaged' }
  return checkFile(layout.blobPath(digest, storedBytes), digest, { storedBytes, checksum: head.checksum })
}

const checkFile = async (
  path: string,
  digest: Digest,
  expected: { readonly storedBytes: number; readonly checksum: number; readonly offset?: number },
): Promise<Checked> => {
  const hasher = digest.function.createHasher(digest.sizeBytes)
  let [length, checksum] = [0, 0]
  try {
    const { offset, storedBytes } = expected
    const part = offset === undefined ? {} : { start: offset, end: offset + storedBytes - 1 }
    const stream = createReadStream(path, { highWaterMark: STAGE_BYTES, ...part })
    for await (const chunk of stream as AsyncIterable<Buffer>) {
      hasher.update(chunk)
      checksum = crc32(chunk, checksum)
      length += chunk.length
    }
  } catch (error) {
    if (errnoOf(error) === undefined) throw error
    return { fault: `${path}: ${inWords(error)}` }
  }
  if (length !== expected.storedBytes) return { fault: `${path} has ${length} bytes, expected ${expected.storedBytes}` }
  if (checksum !== expected.checksum) return { fault: `${path}: the bytes do not match their checksum` }
  return { hash: hasher.digest() }
}

const countUnknown = async (layout: Layout, index: BlobIndex, { damage, unknown }: FolderReport): Promise<void> => {
  const folders = await layout.folders((error) => damage.push(`a folder of files cannot be read: ${inWords(error)}`))
  for (const folder of folders) {
    for (const name of await readdir(layout.folderPath(folder))) {
      const parsed = layout.parse(folder, name)
      const slot = parsed === undefined ? ABSENT : index.find(parsed.digest)
      const isFile = slot !== ABSENT && index.kindOf(slot) === 'file'
      const isKnown = isFile && index.storedBytesOf(slot) === parsed?.storedBytes
      if (parsed === undefined || isKnown) continue
      unknown.count += 1
      unknown.bytes += parsed.storedBytes
    }
  }
}
