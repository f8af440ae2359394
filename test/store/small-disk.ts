import { execFile } from 'node:child_process'
import { mkdtemp, rmdir } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { promisify } from 'node:util'
import type { Scope } from './remote/backend.js'

const run = promisify(execFile)

/** A tmpfs of that size (as mount takes it), gone when the test ends; undefined if mounting is not allowed. */
export const smallDisk = async (t: Scope, size: string): Promise<string | undefined> => {
  // Not in a testdir: tap would delete that before the disk is unmounted.
  const disk = await mkdtemp(join(tmpdir(), 'remexec-disk-'))
  const isMounted = await run('mount', ['-t', 'tmpfs', '-o', `size=${size}`, 'tmpfs', disk]).then(
    () => true,
    () => false,
  )
  t.teardown(async () => {
    if (isMounted) await run('umount', ['-l', disk])
    await rmdir(disk)
  })
  return isMounted ? disk : undefined
}
