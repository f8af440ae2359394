import { chmodSync, createReadStream, lstatSync, type Stats, utimesSync } from 'node:fs'
import { Writable } from 'node:stream'
import { setImmediate } from 'node:timers/promises'
import { isStatus } from '../../base/status-error.js'
import type { Digest } from '../../reapi/digest.js'
import type { Call } from '../../rpc/call.js'
import type { Store } from '../../store/contract/store.js'
import { Blob } from '../../stream/blob/blob.js'
import { STAGE_BYTES, WHOLE } from '../../stream/path.js'
import { boundedMap } from '../../work/bounded-map.js'
import type { InputLink } from './root.js'

/** File times come from the kernel's coarse clock, which lags behind ours by up to a tick. */
const CLOCK_LAG_MS = 20
const SLICE = 256
const PARALLEL_CHECKS = 4

/**
 * The blobs whose bytes are no longer theirs because a command wrote through its hard link; read-only files do not stop
 * root, nor a command that changes the mode first. A file of the wrong size, with another time than it had, or one since
 * `sinceMs`, is suspicious; its bytes decide, and what the store reads, which may have got another file for the blob
 * meanwhile. It reads the plain file of a blob, so for an executable the link alone decides. One synchronous `lstat` per
 * link is 5 µs.
 *
 * A command that writes as many bytes and sets the time back to the nanosecond escapes. The time of the last change
 * (ctime) would give it away, but every link to the file made or removed for another action changes that too: each action
 * would have to read the inputs it shares with those that run beside it.
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
    const place = `${root}/${path}`
    if (await holds(Blob.ofPath([createReadStream(place)]), digest, call)) restoreTime(place, mtimeMs)
    else if (isExecutable || !(await storeHolds(digest, store, call))) changed.set(digest.key, digest)
  })
  return [...changed.values()]
}

const isSuspicious = (file: Stats, { entry, mtimeMs }: InputLink, sinceMs: number): boolean =>
  file.size !== entry.digest.sizeBytes || file.mtimeMs !== mtimeMs || file.mtimeMs >= sinceMs - CLOCK_LAG_MS

/**
 * The time belongs to every link too, and the store takes a file with another one for a spoilt one and drops the blob,
 * which a result may have named by then. In whole milliseconds, which is all it looks at.
 */
const restoreTime = (path: string, mtimeMs: number): void => {
  const seconds = Math.round(mtimeMs) / 1000
  utimesSync(path, seconds, seconds)
}

/** The mode belongs to every link of a file: the next action must find its input read-only, or executable. */
const restoreMode = (path: string, file: Stats, isExecutable: boolean): void => {
  if (!file.isFile()) return
  const isRight = (file.mode & 0o222) === 0 && ((file.mode & 0o100) !== 0) === isExecutable && (file.mode & 0o400) !== 0
  if (!isRight) chmodSync(path, isExecutable ? 0o555 : 0o444)
}

const storeHolds = async (digest: Digest, store: Store, call: Call): Promise<boolean> => {
  try {
    return await holds(await store.get(digest, WHOLE, call), digest, call)
  } catch (error) {
    // A store that checks what it reads has noticed by itself.
    if (isStatus(error, 'NOT_FOUND') || isStatus(error, 'DATA_LOSS')) return false
    throw error
  }
}

const holds = async (blob: Blob, digest: Digest, call: Call): Promise<boolean> => {
  const hasher = digest.function.createHasher()
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
