import { fork } from 'node:child_process'
import { type Clock, systemClock } from '../../../../src/base/clock.js'
import { isStatus } from '../../../../src/base/status-error.js'
import { textLog } from '../../../../src/log/log.js'
import type { Digest } from '../../../../src/reapi/digest.js'
import { Blob } from '../../../../src/stream/blob/blob.js'
import { bytesOf, digestOf, get, isPresent } from '../../blobs.js'
import { type OpenFilesystem, openFilesystem } from './open.js'
import { loader, programOf } from './program.js'

export interface WriterOptions {
  readonly folder: string
  /** The first number to be written: a multiple of `ROUND_BLOBS`. */
  readonly from: number
  readonly durability: 'process_exit' | 'power_loss'
  /** Blobs the store may hold; 0 for any number. */
  readonly maxCount: number
  readonly segmentBytes: number
  /** When the first writer of the folder began: since then its time runs a hundred times as fast. */
  readonly beganMs: number
}

export interface KillOptions extends WriterOptions {
  /** Killed this long after it reported this many blobs. */
  readonly blobs: number
  readonly afterMs: number
}

/** What a writer reports: the number up to which the store acknowledged its blobs, and what its store did meanwhile. */
export interface WriterReport {
  readonly written: number
  readonly emptied: number
  readonly copiedBlobs: number
  readonly copiedRemovals: number
  readonly movedBlobs: number
  readonly evicted: number
}

export interface Found {
  readonly lost: number
  readonly torn: number
  /** Replaced or removed blobs that are present again. */
  readonly stale: number
  /** Blobs in use that were evicted all the same, in a store that takes seconds to evict all that it has. */
  readonly forgotten: number
  readonly tempFiles: number
  /** Copies made by the cleaner that the start replayed. */
  readonly replayedCopies: number
}

export const ROUND_BLOBS = 50

const SPEED = 100

/** So many blobs take longer to write than the 16 seconds to which a store knows when a blob was used. */
const USE_COUNT_MIN = 2000

/** Work that a store does once a second takes place every ten milliseconds here. */
export const fastClock = (beganMs: number): Clock => ({
  // biome-ignore lint/plugin: a clock that runs faster
  now: () => beganMs + (Date.now() - beganMs) * SPEED,
  every: (periodMs, tick) => systemClock.every(periodMs / SPEED, tick),
})

const KEYS = 20

/** What a writer does in the round that begins with this number. */
export const roundOf = (from: number) => {
  const round = from / ROUND_BLOBS
  const bytes = bytesOf(2000 + (round % 7), `key of round ${round}`)
  return {
    small: Array.from({ length: ROUND_BLOBS }, (_, index) =>
      bytesOf(4000 + ((from + index) % 100), `small ${from + index}`),
    ),
    /** They are put together. */
    pieces: Array.from({ length: 4 }, (_, index) => bytesOf(70_000 + index, `piece ${from} ${index}`)),
    large: bytesOf(100_000 + (from % 1000), `large ${from}`),
    /** As in an action cache, the blob of a key changes from upload to upload. */
    keyed: {
      digest: keyOf(round % KEYS),
      bytes,
      blob: () => Blob.ofBytes(bytes),
      isRemoved: Math.floor(round / KEYS) % 2 === 1,
    },
  }
}

/** Blobs of earlier rounds that a writer still uses. */
export const hotAt = (from: number): Buffer[] =>
  Array.from({ length: 8 }, (_, index) => from - (index + 1) * 5 * ROUND_BLOBS)
    .filter((number) => number >= 0)
    .flatMap((number) => [...roundOf(number).small.slice(0, 1), ...roundOf(number).pieces.slice(0, 1)])

const keyOf = (key: number): Digest => digestOf(Buffer.from(`key ${key}`)).asKey()

/** Kills a process that writes to a store. Returns its last report. */
export const killWriter = async ({ blobs, afterMs, ...options }: KillOptions): Promise<WriterReport> => {
  const child = fork(programOf('crash-bytes.ts'), [JSON.stringify(options)], { execArgv: [...loader] })
  let last: WriterReport = {
    written: options.from,
    emptied: 0,
    copiedBlobs: 0,
    copiedRemovals: 0,
    movedBlobs: 0,
    evicted: 0,
  }
  let isDue = false
  child.on('message', (report) => {
    last = report as WriterReport
    if (last.written < options.from + blobs || isDue) return
    isDue = true
    // biome-ignore lint/plugin: kills at any moment
    setTimeout(() => child.kill('SIGKILL'), afterMs)
  })
  const code = await new Promise((resolve) => child.once('exit', resolve))
  if (code !== null) throw new Error(`the writer ended with ${code} before it was killed`)
  return last
}

/** What a killed writer left, `written` being the number up to which the store had acknowledged its blobs. */
export const inspect = async (options: WriterOptions, written: number): Promise<Found> => {
  const { folder, from, durability, maxCount, segmentBytes, beganMs } = options
  let replayedCopies = 0
  const log = textLog('info', (line) => {
    replayedCopies += Number(/recovered the blobs.* copies=(\d+)/.exec(line)?.[1] ?? 0)
  })
  const parts = { durability, segmentBytes, log, clock: fastClock(beganMs), policy: { max_count: maxCount } }
  const files = await openFilesystem(folder, parts)
  const tempFiles = (await files.tempFiles()).length
  // Eviction takes the oldest: the half of what fits that was written last must be there.
  const first = maxCount === 0 ? from : Math.max(from, written - Math.floor(maxCount / 2))
  const firstRound = Math.ceil(first / ROUND_BLOBS) * ROUND_BLOBS
  let [lost, torn] = [0, 0]
  for (let number = firstRound; number < written + 2 * ROUND_BLOBS; number += ROUND_BLOBS) {
    const { small, pieces, large } = roundOf(number)
    for (const bytes of [...small, ...pieces, large]) {
      const found = await read(files, digestOf(bytes))
      if (found === undefined && number < written) lost++
      if (found !== undefined && !found.equals(bytes)) torn++
    }
  }
  const hot = maxCount >= USE_COUNT_MIN ? hotAt(written - ROUND_BLOBS) : []
  const forgotten = (await Promise.all(hot.map((bytes) => isPresent(files.store, digestOf(bytes))))).filter((is) => !is)
  const keys = await inspectKeys(files, firstRound, written)
  await files.close()
  return { lost: lost + keys.lost, torn, stale: keys.stale, forgotten: forgotten.length, tempFiles, replayedCopies }
}

const inspectKeys = async (files: OpenFilesystem, firstRound: number, written: number) => {
  let [lost, stale] = [0, 0]
  const last = written / ROUND_BLOBS - 1
  for (let round = Math.max(0, last - KEYS + 1); round <= last; round++) {
    const { digest, bytes, isRemoved } = roundOf(round * ROUND_BLOBS).keyed
    const found = await read(files, digest)
    // The writer may have been in a later round, which the store did not acknowledge completely.
    const later = [round + KEYS].filter((each) => each <= last + 2).map((each) => roundOf(each * ROUND_BLOBS).keyed)
    if (later.some((each) => (found === undefined ? each.isRemoved : found.equals(each.bytes)))) continue
    const mayBeEvicted = round * ROUND_BLOBS < firstRound
    if (found === undefined ? !isRemoved && !mayBeEvicted : false) lost++
    if (found !== undefined && (isRemoved || !found.equals(bytes))) stale++
  }
  return { lost, stale }
}

const read = async ({ store }: OpenFilesystem, digest: Digest): Promise<Buffer | undefined> => {
  if (!(await isPresent(store, digest))) return undefined
  try {
    return await get(store, digest)
  } catch (error) {
    if (isStatus(error, 'NOT_FOUND')) return undefined
    throw error
  }
}
