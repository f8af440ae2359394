import { mkdir, readdir, readFile, rm, truncate, writeFile } from 'node:fs/promises'
import { dirname, join } from 'node:path'
import t from 'tap'
import { Layout } from '../../../src/store/filesystem/layout.js'
import { deleteTorn } from '../../../src/store/filesystem/placings.js'
import { missingOf } from '../../../src/store/store.js'
import { bytesOf, call, digestOf, get, isPresent, putAll } from '../blobs.js'
import { openFilesystem } from './open.js'

const blobs = Array.from({ length: 90 }, (_, number) => bytesOf(3000 + number, `placed ${number}`))
const entries = blobs.map((bytes) => ({ digest: digestOf(bytes), bytes }))

t.test('of the files that are noted those that are not whole are deleted, and the notes', async (t) => {
  const folder = t.testdir({ content: {}, temp: {} })
  const layout = new Layout(join(folder, 'content'), join(folder, 'temp'))
  const [whole = '', torn = '', unnoted = '', gone = ''] = entries.map(({ digest, bytes }) =>
    layout.blobName(digest, bytes.length),
  )
  for (const [index, name] of [whole, torn, unnoted].entries()) {
    await mkdir(dirname(layout.pathOf(name)), { recursive: true })
    const { bytes = Buffer.alloc(0) } = entries[index] ?? {}
    await writeFile(layout.pathOf(name), name === whole ? bytes : bytes.subarray(0, 1000))
  }
  const [cut, foreign] = [unnoted.slice(0, -2), '../temp/other']
  await writeFile(join(folder, 'content', 'placing-0'), `${[whole, gone, foreign, cut].join('\n')}\n`)
  await writeFile(join(folder, 'content', 'placing-1'), `${torn}\n`)
  await writeFile(join(folder, 'temp', 'other'), 'of somebody else')
  await deleteTorn(layout)
  const left = await readdir(join(folder, 'content'), { recursive: true })
  t.same(left.filter((name) => name.length > 64).sort(), [unnoted, whole].sort())
  t.same(
    left.filter((name) => name.startsWith('placing')),
    [],
  )
  t.equal((await readFile(join(folder, 'temp', 'other'))).toString(), 'of somebody else')
})

t.test('a batch is noted before it is written in place, and what a kill tore is a miss', async (t) => {
  const folder = t.testdir()
  const before = await openFilesystem(folder)
  await putAll(before.store, entries)
  const content = join(folder, 'content')
  const notes = (await readdir(content)).filter((name) => name.startsWith('placing-'))
  const noted = (await Promise.all(notes.map((name) => readFile(join(content, name), 'latin1')))).join('').split('\n')
  const torn = entries.find(({ digest }) => noted.some((name) => name.includes(digest.hash)))
  if (torn === undefined) throw new Error('the last files of each thread are noted')
  // As a kill -9 leaves it: the checkpoint says that the run was not over, of the same boot.
  const checkpoint = await readFile(join(content, 'index')).catch(() => undefined)
  const saved = await Promise.all(notes.map(async (name) => [name, await readFile(join(content, name))] as const))
  await before.close()
  const again = await openFilesystem(folder)
  const unclean = await readFile(join(content, 'index'))
  t.notSame(unclean, checkpoint)
  await again.close()
  await writeFile(join(content, 'index'), unclean)
  for (const [name, bytes] of saved) await writeFile(join(content, name), bytes)
  const [file = ''] = (await again.blobFiles()).filter((name) => name.startsWith(torn.digest.hash))
  await truncate(join(content, 'sha256', torn.digest.hash.slice(0, 2), file), 100)

  const after = await openFilesystem(folder)
  t.notOk(await isPresent(after.store, torn.digest), 'it does not even look present')
  t.same(
    (
      await missingOf(
        after.store,
        entries.map(({ digest }) => digest),
        call,
      )
    ).map(({ key }) => key),
    [torn.digest.key],
  )
  t.same(await putAll(after.store, [torn]), [undefined])
  t.ok((await get(after.store, torn.digest)).equals(torn.bytes))
  await after.close()
})

t.test('a file nobody knows of under the name of a new blob is replaced', async (t) => {
  const folder = t.testdir()
  const files = await openFilesystem(folder)
  const layout = new Layout(join(folder, 'content'), join(folder, 'temp'))
  for (const { digest, bytes } of entries.slice(0, 20)) {
    const path = layout.blobPath(digest, bytes.length)
    await mkdir(dirname(path), { recursive: true })
    await writeFile(path, 'torn', { mode: 0o444 })
  }
  t.same(
    await putAll(files.store, entries),
    entries.map(() => undefined),
  )
  for (const { digest, bytes } of entries) if (!(await get(files.store, digest)).equals(bytes)) t.fail(digest.key)
  t.same(await files.tempFiles(), [])
  await files.close()
})

t.test('without room for a note nothing is written in place', async (t) => {
  const folder = t.testdir()
  const files = await openFilesystem(folder)
  // A folder where the notes should be: they cannot be opened.
  for (const number of [0, 1]) await mkdir(join(folder, 'content', `placing-${number}`))
  t.same(
    await putAll(files.store, entries),
    entries.map(() => undefined),
  )
  t.same(
    await missingOf(
      files.store,
      entries.map(({ digest }) => digest),
      call,
    ),
    [],
  )
  for (const number of [0, 1]) await rm(join(folder, 'content', `placing-${number}`), { recursive: true })
  await files.close()
})
