import { cp } from 'node:fs/promises'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import t from 'tap'
import { ManualClock } from '../../../../src/base/clock.js'
import { textLog } from '../../../../src/log/log.js'
import type { Digest } from '../../../../src/reapi/digest.js'
import { until } from '../../../until.js'
import { bytesOf, call, digestOf, get, isPresent, put } from '../../blobs.js'
import { crashed } from './crashed.js'
import { openFilesystem } from './open.js'

/** Two folders that a release of 2026-11 left, whose records carry no sequence numbers. */
const fixtures = fileURLToPath(new URL('../../../../fixtures/stores/format-1', import.meta.url))

const blob = (number: number, sizeBytes = number === 4 ? 300 : 200): { bytes: Buffer; digest: Digest } => {
  const bytes = bytesOf(sizeBytes, `old ${number}`)
  return { bytes, digest: digestOf(bytes) }
}

t.test('blobs of an older release are present, also after cleaning and kill -9', async (t) => {
  for (const how of ['stopped', 'killed']) {
    const root = t.testdir()
    let folder = join(root, how)
    await cp(join(fixtures, how), folder, { recursive: true })
    const clock = new ManualClock(Date.now())
    const lines: string[] = []
    const log = textLog('debug', (line) => void lines.push(line))
    const parts = { clock, log, small_blob_size: 200, segmentBytes: 2048 }
    const expectBlobs = async (present: readonly number[], absent: readonly number[]): Promise<void> => {
      for (const number of present) {
        t.ok((await get(files.store, blob(number).digest)).equals(blob(number).bytes), `${how}: ${number}`)
      }
      for (const number of absent) t.notOk(await isPresent(files.store, blob(number).digest), `${how}: no ${number}`)
    }
    const crash = async (): Promise<void> => {
      const next = `${folder}-crashed`
      await crashed(folder, next)
      await files.close()
      folder = next
      files = await openFilesystem(folder, parts)
    }
    let files = await openFilesystem(folder, parts)
    // Blob 1 was removed, blob 2 was removed and uploaded again, blob 4 is a file.
    await expectBlobs([0, 2, 3, 4], [1])
    await files.store.remove(blob(3).digest, 'unwanted', call)
    await put(files.store, blob(5).digest, blob(5).bytes)
    await crash()
    await expectBlobs([0, 2, 4, 5], [1, 3])
    await files.store.remove(blob(0).digest, 'unwanted', call)
    await until(async () => {
      clock.advance(1000)
      return lines.some((line) => line.includes('emptied a file of records number=1 '))
    }, 'that the records of the older release are copied')
    await crash()
    await expectBlobs([2, 4, 5], [0, 1, 3])
    await files.close()
  }
})
