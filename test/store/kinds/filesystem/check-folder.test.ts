import { createHash } from 'node:crypto'
import { mkdirSync, readdirSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import t from 'tap'
import { checkFolder } from '../../../../src/store/kinds/filesystem/check-folder.js'
import { largestBlobs } from '../../../../src/store/kinds/filesystem/list-folder.js'
import { bytesOf, digestOf, put } from '../../blobs.js'
import { openFilesystem } from './open.js'

const blobs = [100, 60_000, 70_000, 300_000].map((length) => bytesOf(length, `blob of ${length}`))

/** Fills a store; returns its content_path. */
const filled = async (folder: string): Promise<string> => {
  const files = await openFilesystem(folder)
  for (const bytes of blobs) await put(files.store, digestOf(bytes), bytes)
  await files.close()
  return join(folder, 'content')
}

/** Names, bytes and times of all files. */
const stateOf = (folder: string): string => {
  const hash = createHash('sha256')
  for (const name of readdirSync(folder, { recursive: true, encoding: 'utf8' }).sort()) {
    const stats = statSync(join(folder, name))
    hash.update(`${name} ${stats.mtimeMs} ${stats.size}`)
    if (stats.isFile()) hash.update(readFileSync(join(folder, name)))
  }
  return hash.digest('hex')
}

const pathOf = (content: string, bytes: Buffer): string => {
  const { hash, sizeBytes } = digestOf(bytes)
  return join(content, 'sha256', hash.slice(0, 2), `${hash}-${sizeBytes}-${sizeBytes}`)
}

const check = (content: string) => checkFolder(content, () => {})

const damageAt = (path: string, at: number): void => {
  const bytes = readFileSync(path)
  bytes.writeUInt8(bytes.readUInt8(at) ^ 1, at)
  writeFileSync(path, bytes)
}

t.test('an intact store is read as a whole and stays as it was', async (t) => {
  for (const hasCheckpoint of [true, false]) {
    const content = await filled(t.testdir())
    if (!hasCheckpoint) rmSync(join(content, 'index'))
    const before = stateOf(content)
    t.match(await check(content), {
      blobs: { count: 4, bytes: 430_100, inFiles: 2 },
      damage: [],
      hashes: { matching: 4, differing: 0 },
      unknown: { count: 0 },
    })
    t.equal(stateOf(content), before)
  }
})

t.test('every kind of damage is listed, and stays', async (t) => {
  const content = await filled(t.testdir())
  const [small, , large, largest] = blobs as [Buffer, Buffer, Buffer, Buffer]
  damageAt(pathOf(content, large), 5)
  rmSync(pathOf(content, largest))
  const records = join(content, 'records')
  const segment = join(records, readdirSync(records)[0] ?? '')
  damageAt(segment, readFileSync(segment).indexOf(small))
  const before = stateOf(content)
  const { damage, hashes } = await check(content)
  t.match(damage.sort().join('\n'), digestOf(small).key)
  t.match(
    damage.find((text) => text.includes(digestOf(small).key)),
    'its record is damaged',
  )
  t.match(
    damage.find((text) => text.includes(digestOf(large).key)),
    'do not match their checksum',
  )
  t.match(
    damage.find((text) => text.includes(digestOf(largest).key)),
    'there is no such file',
  )
  t.equal(damage.length, 3)
  t.equal(hashes.matching, 1)
  t.equal(stateOf(content), before)
})

t.test('damaged heads of records, headers and checkpoints', async (t) => {
  const content = await filled(t.testdir())
  const records = join(content, 'records')
  const segment = join(records, readdirSync(records)[0] ?? '')
  damageAt(segment, 0)
  damageAt(segment, 64 + 20)
  damageAt(join(content, 'index'), 30)
  const before = stateOf(content)
  const { damage } = await check(content)
  t.match(damage.join('\n'), 'a file of records is damaged')
  t.match(damage.join('\n'), 'the checkpoint of a store is damaged')
  t.equal(stateOf(content), before, 'no header is mended')
  damageAt(segment, 0)
  t.match((await check(content)).damage.join('\n'), /the bytes from 64 to \d+ are no records/)
})

t.test('files of no blob are counted; a running store and other folders are refused', async (t) => {
  const folder = t.testdir()
  const content = await filled(folder)
  const stray = pathOf(content, Buffer.from('nobody knows it'))
  mkdirSync(join(stray, '..'), { recursive: true })
  writeFileSync(stray, 'nobody knows it')
  t.match(await check(content), { damage: [], unknown: { count: 1, bytes: 15 } })
  await t.rejects(check(folder), /is not the content_path of a filesystem store/)
  const running = await openFilesystem(folder)
  await t.rejects(check(content), /is in use by a running server/)
  await running.close()
})

t.test('the largest blobs of a folder, with their last use', async (t) => {
  const content = await filled(t.testdir())
  const before = stateOf(content)
  const found = await largestBlobs(content, 2)
  t.same(
    found.map(({ key, storedBytes }) => [key, storedBytes]),
    [blobs[3], blobs[2]].map((bytes) => [digestOf(bytes as Buffer).key, bytes?.length]),
  )
  t.ok(found.every(({ usedMs }) => Math.abs(usedMs - Date.now()) < 600_000))
  t.equal(stateOf(content), before)
})
