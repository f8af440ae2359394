import { chmodSync, createReadStream, lstatSync, type Stats, utimesSync } from 'node:fs'
import { Writable } from 'node:stream'
import { setImmediate } from 'node:timers/promises'
import { isStatus } from '../../base/status-error.js'
import type { Store } from '../../blobs/store.js'
import type { Digest } from '../../reapi/digest.js'
import type { Call } from '../../rpc/call.js'
import { Blob } from '../../stream/blob/blob.js'
import { STAGE_BYTES, WHOLE } from '../../stream/path.js'
import { boundedMap } from '../../work/bounded-map.js'
import type { InputLink } from './root.js'

/** File times come from a coarse clock of the kernel, which lags behind by up to one tick. */
export const CLOCK_LAG_MS = 20
const SLICE = 256
const PARALLEL_CHECKS = 4

/**
 * The digests of blobs whose files a command changed through a hard link. Read-only files do not stop root, or a
 * command that changes the mode first.
 * A file is suspicious if its size or mtime is not the original one, or if its mtime is after `sinceMs`. Then its bytes
 * are compared. The blob counts as changed only if the store's bytes are wrong too, because the store may have replaced
 * the file meanwhile. The store reads the plain file of a blob, so for an executable only the link is checked. One
 * synchronous `lstat` per link takes 5 µs.
 * A command that writes the same number of bytes and restores the mtime to the nanosecond is not detected. The ctime
 * would reveal it, but it also changes whenever another action adds or removes a link. Each action would have to read
 * all inputs that it shares with concurrent ones.
 */
export const changedInputs = async (
  links: readonly InputLink[],
  root: string,
  sinceMs: number,
  store: Store,
  call: Call,
): Promise<Digest[]> => {
  const suspicious: InputLink[] = []
  for (const [index, link] of links.entries()) {
    const { path, entry, inode } = link
    const file = lstatSync(`${root}/${path}`, { throwIfNoEntry: false })
    if (file !== undefined && file.nlink > 1 && file.ino === inode) {
      if (isSuspicious(file, link, sinceMs)) suspicious.push(link)
      restoreMode(`${root}/${path}`, file, entry.isExecutable)
    }
    if (index % SLICE === SLICE - 1) await setImmediate()
  }
  const changed = new Map<string, Digest>()
  await boundedMap(suspicious, PARALLEL_CHECKS, async ({ path, mtimeMs, entry: { digest, isExecutable } }) => {
    if (changed.has(digest.key)) return
    const absolute = `${root}/${path}`
    if (await fileHolds(absolute, digest, call)) restoreTime(absolute, mtimeMs)
    else if (isExecutable || !(await storeHolds(digest, store, call))) changed.set(digest.key, digest)
  })
  return [...changed.values()]
}

const isSuspicious = (file: Stats, { entry, mtimeMs }: InputLink, sinceMs: number): boolean =>
  file.size !== entry.digest.sizeBytes || file.mtimeMs !== mtimeMs || file.mtimeMs >= sinceMs - CLOCK_LAG_MS

/**
 * The mtime is shared by all links. The store treats a file with another mtime as damaged and drops the blob, which a
 * result may already refer to. Restored in whole milliseconds, which is the precision that the store compares.
 */
const restoreTime = (path: string, mtimeMs: number): void => {
  const seconds = Math.round(mtimeMs) / 1000
  utimesSync(path, seconds, seconds)
}

/**
 * The mode is shared by all links of a file. The next action must find its input read-only, and executable if it should
 * be.
 */
const restoreMode = (path: string, file: Stats, isExecutable: boolean): void => {
  if (!file.isFile()) return
  const isRight = (file.mode & 0o222) === 0 && ((file.mode & 0o100) !== 0) === isExecutable && (file.mode & 0o400) !== 0
  if (!isRight) chmodSync(path, isExecutable ? 0o555 : 0o444)
}

const storeHolds = async (digest: Digest, store: Store, call: Call): Promise<boolean> => {
  try {
    return await holds(await store.get(digest, WHOLE, call), digest, call)
  } catch (error) {
    // A store that checks its reads has found the damage itself.
    if (isStatus(error, 'NOT_FOUND') || isStatus(error, 'DATA_LOSS')) return false
    throw error
  }
}

/** Whether the bytes of a file are those of the digest. Rejects with the file system's error. */
export const fileHolds = (path: string, digest: Digest, call: Call): Promise<boolean> =>
  holds(Blob.ofPath([createReadStream(path)]), digest, call)

const holds = async (blob: Blob, digest: Digest, call: Call): Promise<boolean> => {
  const hasher = digest.function.createHasher(digest.sizeBytes)
  let sizeBytes = 0
  const sink = new Writable({
    highWaterMark: STAGE_BYTES,
    write: (chunk: Buffer, _encoding, callback) => {
      sizeBytes += chunk.length
      hasher.update(chunk)
      callback()
    },
  })
  await blob.into([sink], call.signal)
  return sizeBytes === digest.sizeBytes && hasher.digest() === digest.hash
}
