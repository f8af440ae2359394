import { readdir, readFile, stat, utimes, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import t, { type Test } from 'tap'
import type { Store } from '../../../../src/blobs/store.js'
import type { Digest } from '../../../../src/reapi/digest.js'
import { drawnBytes } from '../../../drawn.js'
import { digestOf, get, isPresent, put } from '../../blobs.js'
import { rejects } from '../../suite.js'
import { openFilesystem } from '../filesystem/open.js'
import { wire, zstdStore } from './zstd-store.js'

const MIB = 1024 * 1024
/** Of the file, and before the end of the part that is read. */
const DAMAGED_AT = 300_000

/** The only file of a blob below the folder. */
const fileIn = async (folder: string): Promise<string> => {
  const files = await readdir(folder, { recursive: true, withFileTypes: true })
  const found = await Promise.all(
    files
      .filter((entry) => entry.isFile())
      .map(async (entry) => {
        const path = join(entry.parentPath, entry.name)
        return { path, ...(await stat(path)) }
      }),
  )
  return found.toSorted((a, b) => b.size - a.size)[0]?.path ?? ''
}

/** One bit of a stored frame is another, and the time of change is as before. */
const damage = async (path: string): Promise<void> => {
  const { atime, mtime } = await stat(path)
  const bytes = await readFile(path)
  bytes.writeUInt8(bytes.readUInt8(DAMAGED_AT) ^ 1, DAMAGED_AT)
  await writeFile(path, bytes)
  await utimes(path, atime, mtime)
}

// Records have checksums of their own, which are not compared where the file's are.
const isNoticed = async (t: Test, read: (store: Store, digest: Digest) => Promise<Buffer>): Promise<void> => {
  const folder = t.testdir()
  // No decoder notices another bit in what does not compress.
  const bytes = drawnBytes(12 * MIB)
  const digest = digestOf(bytes)
  const before = await openFilesystem(folder)
  await put(await zstdStore(before.store), digest, bytes)
  await before.close()
  const path = await fileIn(folder)
  await damage(path)

  const after = await openFilesystem(folder)
  t.teardown(() => after.close())
  const store = await zstdStore(after.store)
  await rejects(t, read(store, digest), 'DATA_LOSS')
  t.notOk(await isPresent(store, digest), 'a miss from then on')
}

t.test('a stored blob whose file was damaged is no answer, read plain', (t) => isNoticed(t, get))
t.test('nor as it is stored', (t) => isNoticed(t, wire))
t.test('nor in part from near its beginning', (t) =>
  isNoticed(t, (store, digest) => get(store, digest, { offset: 5, limit: MIB })),
)
