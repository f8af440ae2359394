import { fork } from 'node:child_process'
import { bytesOf, digestOf, get, isPresent } from '../blobs.js'
import { openFilesystem } from './open.js'
import { loader, programOf } from './program.js'

export interface KillOptions {
  readonly folder: string
  /** The first number to be written. */
  readonly from: number
  readonly durability: 'process_exit' | 'power_loss'
  /** Blobs the store may hold; 0 for any number. */
  readonly maxCount: number
  /** Killed so long after it said that it had written so many. */
  readonly blobs: number
  readonly afterMs: number
}

/** Kills a process that writes to a store. Answers the number up to which it was told that its blobs are written. */
export const killWriter = async ({
  folder,
  from,
  durability,
  maxCount,
  blobs,
  afterMs,
}: KillOptions): Promise<number> => {
  const args = [folder, String(from), durability, String(maxCount)]
  const child = fork(programOf('crash-bytes.ts'), args, { execArgv: [...loader] })
  let written = from
  let isDue = false
  child.on('message', (count) => {
    written = Number(count)
    if (written < from + blobs || isDue) return
    isDue = true
    setTimeout(() => child.kill('SIGKILL'), afterMs)
  })
  const code = await new Promise((resolve) => child.once('exit', resolve))
  if (code !== null) throw new Error(`the writer ended with ${code} before it was killed`)
  return written
}

/** What a killed writer left: how many of its blobs are lost, and how many of those that are there are torn. */
export const inspect = async (
  options: Pick<KillOptions, 'folder' | 'from' | 'durability' | 'maxCount'>,
  written: number,
): Promise<{ readonly lost: number; readonly torn: number; readonly tempFiles: number }> => {
  const { folder, from, durability, maxCount } = options
  const files = await openFilesystem(folder, { durability, policy: { max_count: maxCount } })
  const tempFiles = (await files.tempFiles()).length
  // What may be evicted is the oldest: the half of what fits that was written last must be there.
  const first = maxCount === 0 ? from : Math.max(from, written - Math.floor(maxCount / 2))
  let lost = 0
  let torn = 0
  const look = async (bytes: Buffer, isAcknowledged: boolean): Promise<void> => {
    const digest = digestOf(bytes)
    const isThere = await isPresent(files.store, digest)
    if (isAcknowledged && !isThere) lost++
    if (isThere && !(await get(files.store, digest)).equals(bytes)) torn++
  }
  for (let number = first; number < written + 100; number++) {
    await look(bytesOf(4000 + (number % 100), `small ${number}`), number < written)
    if (number % 50 === 0) await look(bytesOf(100_000 + (number % 1000), `large ${number}`), number < written)
  }
  await files.close()
  return { lost, torn, tempFiles }
}
