import { execFile } from 'node:child_process'
import { rm, writeFile } from 'node:fs/promises'
import { promisify } from 'node:util'
import t from 'tap'
import { ManualClock } from '../../../../src/base/clock.js'
import { Code, isStatus } from '../../../../src/base/status-error.js'
import { textLog } from '../../../../src/log/log.js'
import { internalCall } from '../../../../src/rpc/call.js'
import { Blob } from '../../../../src/stream/blob/blob.js'
import { until } from '../../../until.js'
import { bytesOf, call, digestOf, get, isPresent, put } from '../../blobs.js'
import { smallDisk } from '../../small-disk.js'
import { rejects } from '../../suite.js'
import { openFilesystem } from './open.js'
import { loader, programOf } from './program.js'

const run = promisify(execFile)

t.test('a full disk is RESOURCE_EXHAUSTED and leaves nothing', async (t) => {
  const mounted = await smallDisk(t, '1m')
  if (mounted === undefined) t.pass('a small disk', { skip: 'cannot mount one here' })
  else {
    const files = await openFilesystem(mounted, { small_blob_size: 0 })
    const small = bytesOf(1000, 'first')
    await put(files.store, digestOf(small), small)
    const large = bytesOf(4_000_000)
    const uploads = Array.from({ length: 3 }, () => put(files.store, digestOf(large), large))
    await Promise.all(uploads.map((upload) => rejects(t, upload, 'RESOURCE_EXHAUSTED')))
    await until(async () => (await files.tempFiles()).length === 0)
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

t.test('health reports a full disk: at once after a failed write, else a second later', async (t) => {
  const mounted = await smallDisk(t, '1m')
  if (mounted === undefined) {
    t.pass('a small disk', { skip: 'cannot mount one here' })
    return
  }
  const files = await openFilesystem(mounted, { small_blob_size: 0 })
  const state = async (): Promise<string> => (await files.store.health(call)).state
  const fill = async (): Promise<void> => {
    await writeFile(`${mounted}/other`, bytesOf(2_000_000)).catch(() => {})
  }
  t.equal(await state(), 'Ok')
  await fill()
  const bytes = bytesOf(10_000)
  await rejects(t, put(files.store, digestOf(bytes), bytes), 'RESOURCE_EXHAUSTED')
  t.match(await files.store.health(call), { state: 'Failed', error: /the disk is full/ })
  await rm(`${mounted}/other`)
  t.equal(await state(), 'Ok', 'what does not work is tried each time')
  await fill()
  await until(async () => (await state()) !== 'Ok')
  await files.close()
})

t.test('a disk that stays full is logged from time to time, not for each blob', async (t) => {
  const mounted = await smallDisk(t, '1m')
  if (mounted === undefined) {
    t.pass('a small disk', { skip: 'cannot mount one here' })
    return
  }
  const clock = new ManualClock()
  const lines: string[] = []
  const log = textLog('info', (line) => lines.push(line.trim()))
  const told = (): string[] => lines.splice(0).filter((line) => line.includes('could not keep a blob'))
  for (const small_blob_size of [0, 16 * 1024 * 1024]) {
    const files = await openFilesystem(mounted, { small_blob_size, clock, log })
    const fill = async (): Promise<void> => {
      const blobs = Array.from({ length: 20 }, (_, number) => bytesOf(1_500_000, `blob ${number}`))
      for (const bytes of blobs) await rejects(t, put(files.store, digestOf(bytes), bytes), 'RESOURCE_EXHAUSTED')
    }
    await fill()
    const first = told()
    t.equal(first.length, 1)
    t.match(
      first[0],
      / warn +the store could not keep a blob store=TEST blob=[0-9a-f]+-1500000 reason="[^"]*the disk is full \(ENOSPC\)/,
    )
    clock.advance(60_000)
    t.match(told(), [/the store could not keep a blob: more of these were not written count=19/])
    await fill()
    t.equal(told().length, 1)
    const gone = new AbortController()
    gone.abort()
    await rejects(
      t,
      files.store.put(digestOf(bytesOf(10)), Blob.ofBytes(bytesOf(10)), internalCall({ signal: gone.signal })),
      'CANCELLED',
    )
    clock.advance(60_000)
    t.equal(told().length, 1, 'a cancelled upload is not a failure of the disk')
    await files.close()
  }
})

t.test('a disk filled by records is RESOURCE_EXHAUSTED, and earlier blobs are kept', async (t) => {
  const mounted = await smallDisk(t, '1m')
  if (mounted === undefined) {
    t.pass('a small disk', { skip: 'cannot mount one here' })
    return
  }
  const blobs = Array.from({ length: 400 }, (_, number) => bytesOf(5000, `blob ${number}`))
  let files = await openFilesystem(mounted)
  const outcomes: unknown[] = []
  for (let from = 0; from < blobs.length; from += 40) {
    const written = blobs.slice(from, from + 40).map((bytes) =>
      put(files.store, digestOf(bytes), bytes).then(
        () => undefined,
        (error: unknown) => error,
      ),
    )
    outcomes.push(...(await Promise.all(written)))
  }
  const failures = outcomes.filter((outcome) => outcome !== undefined)
  t.ok(failures.length > 0 && failures.length < 400 && failures.every((error) => isStatus(error, 'RESOURCE_EXHAUSTED')))
  const expectKept = async (): Promise<void> => {
    for (const [at, bytes] of blobs.entries()) {
      const isThere = await isPresent(files.store, digestOf(bytes))
      if (isThere !== (outcomes[at] === undefined)) t.fail(`blob ${at} is ${isThere ? '' : 'not '}there`)
      if (isThere && !(await get(files.store, digestOf(bytes))).equals(bytes)) t.fail(`blob ${at} is another`)
    }
  }
  await expectKept()
  for (const bytes of blobs.slice(0, 50)) await files.store.remove(digestOf(bytes), 'unwanted', call)
  for (const at of Array(50).keys()) outcomes[at] = 'removed'
  await expectKept()
  await files.close().catch((error: unknown) => t.ok(error, 'no room for a checkpoint'))
  files = await openFilesystem(mounted)
  await expectKept()
  await files.close().catch(() => {})
})
