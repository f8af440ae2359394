import { execFile } from 'node:child_process'
import { mkdtemp, rmdir } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setImmediate } from 'node:timers/promises'
import { promisify } from 'node:util'
import t, { type Test } from 'tap'
import { Code } from '../../../src/base/status-error.js'
import { bytesOf, digestOf, get, isPresent, put } from '../blobs.js'
import { rejects } from '../suite.js'
import { openFilesystem } from './open.js'
import { loader, programOf } from './program.js'

const run = promisify(execFile)

/** A tmpfs of 1 MiB; undefined where mounting is not allowed. */
const smallDisk = async (t: Test): Promise<string | undefined> => {
  // Not in a testdir: tap would delete that before the disk is unmounted.
  const disk = await mkdtemp(join(tmpdir(), 'remexec-disk-'))
  const isMounted = await run('mount', ['-t', 'tmpfs', '-o', 'size=1m', 'tmpfs', disk]).then(
    () => true,
    () => false,
  )
  t.teardown(async () => {
    if (isMounted) await run('umount', ['-l', disk])
    await rmdir(disk)
  })
  if (!isMounted) return undefined
  return disk
}

t.test('a full disk is RESOURCE_EXHAUSTED and leaves nothing', async (t) => {
  const mounted = await smallDisk(t)
  if (mounted === undefined) t.pass('a small disk', { skip: 'cannot mount one here' })
  else {
    const files = await openFilesystem(mounted)
    const small = bytesOf(1000, 'first')
    await put(files.store, digestOf(small), small)
    const large = bytesOf(4_000_000)
    const uploads = Array.from({ length: 3 }, () => put(files.store, digestOf(large), large))
    await Promise.all(uploads.map((upload) => rejects(t, upload, 'RESOURCE_EXHAUSTED')))
    while ((await files.tempFiles()).length > 0) await setImmediate()
    t.notOk(await isPresent(files.store, digestOf(large)))
    t.equal((await files.blobFiles()).length, 1)
    t.ok((await get(files.store, digestOf(small))).equals(small), 'what was there is still served')
    const second = bytesOf(1001, 'second')
    await put(files.store, digestOf(second), second)
    await files.close()
  }

  const script = `ulimit -f 100000 && exec "$@"`
  const args = ['-c', script, 'sh', process.execPath, ...loader, programOf('full-disk.ts'), t.testdir()]
  const report = JSON.parse((await run('sh', args)).stdout)
  t.match(report.failure, new RegExp(`^${Code.RESOURCE_EXHAUSTED} `), report.failure)
  t.match(report, { isPresent: false, temp: [], files: [] })
})
