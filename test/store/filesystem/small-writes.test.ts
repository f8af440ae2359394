import { mkdir, readdir, readFile, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import t from 'tap'
import { silentLog } from '../../../src/base/log.js'
import { Layout } from '../../../src/store/filesystem/layout.js'
import { SmallWrites } from '../../../src/store/filesystem/small-writes.js'
import { bytesOf } from '../blobs.js'

const opened = async (folder: string, threadFile?: URL, log = silentLog) => {
  for (const name of ['temp', 'content']) await mkdir(join(folder, name))
  const writes = new SmallWrites(new Layout(join(folder, 'content'), join(folder, 'temp')), log, threadFile)
  let count = 0
  const write = (name: string, bytes: Buffer, signal = new AbortController().signal): Promise<number> =>
    writes.write({ name, bytes, isNew: count++ % 2 === 0 }, signal)
  const content = async () => (await readdir(join(folder, 'content'))).filter((name) => !name.startsWith('placing-'))
  return { writes, write, content, temp: () => readdir(join(folder, 'temp')) }
}

for (const count of [1, 3, 40, 700]) {
  t.test(`${count} files at a time, whatever their sizes`, async (t) => {
    const folder = t.testdir()
    const { writes, write, temp } = await opened(folder)
    const sizes = [0, 1, 4096, 30_000, 65_536, 65_537, 300_000]
    const files = Array.from({ length: count }, (_, i) => bytesOf(sizes[i % sizes.length] ?? 0, `${i}`))
    const mtimes = await Promise.all(files.map((bytes, i) => write(`${i % 7}/${i}`, bytes)))
    for (const [i, bytes] of files.entries()) {
      if (!(await readFile(join(folder, 'content', `${i % 7}/${i}`))).equals(bytes)) t.fail(`file ${i}`)
    }
    t.ok(mtimes.every((mtimeMs) => Math.abs(mtimeMs - Date.now()) < 60_000))
    t.same(await temp(), [])
    await writes.close()
  })
}

t.test('a file that cannot be written fails alone, says why and leaves nothing', async (t) => {
  const folder = t.testdir()
  const { writes, write, temp } = await opened(folder)
  await writeFile(join(folder, 'content', 'no-folder'), '')
  for (const count of [1, 60]) {
    const outcomes = await Promise.allSettled(
      Array.from({ length: count }, (_, i) => write(i % 3 === 0 ? `no-folder/${i}` : `${i}`, bytesOf(100))),
    )
    for (const [i, outcome] of outcomes.entries()) {
      if (i % 3 !== 0) t.equal(outcome.status, 'fulfilled', `${i} of ${count}`)
      else t.match(outcome, { status: 'rejected', reason: { code: 'ENOTDIR' } }, `${i} of ${count}`)
    }
  }
  t.same(await temp(), [])
  await writes.close()
})

t.test('what is aborted before its turn is not written', async (t) => {
  const { writes, write, content } = await opened(t.testdir())
  const controller = new AbortController()
  const kept = Array.from({ length: 20 }, (_, i) => write(`kept-${i}`, bytesOf(10)))
  const dropped = Array.from({ length: 20 }, (_, i) => write(`dropped-${i}`, bytesOf(10), controller.signal))
  controller.abort()
  for (const outcome of await Promise.allSettled(dropped)) t.equal(outcome.status, 'rejected')
  await Promise.all(kept)
  const names = await content()
  t.equal(names.length, 20)
  t.ok(names.every((name) => name.startsWith('kept-')))
  await writes.close()
})

t.test('threads end with the store, and one that ended fails what it had to do', async (t) => {
  const { writes, write } = await opened(t.testdir())
  await Promise.all(Array.from({ length: 40 }, (_, i) => write(`first-${i}`, bytesOf(10))))
  const under = Promise.allSettled(Array.from({ length: 40 }, (_, i) => write(`second-${i}`, bytesOf(60_000))))
  await new Promise(setImmediate)
  await writes.close()
  for (const outcome of await under) {
    if (outcome.status === 'rejected') t.match(outcome.reason, { message: /the thread .* ended/ })
  }
  await Promise.all(Array.from({ length: 40 }, (_, i) => write(`third-${i}`, bytesOf(10))))
  t.pass('and the next batch starts another')
  await writes.close()
})

t.test('where threads do not start every file is written without them', async (t) => {
  const warnings: string[] = []
  const log = { ...silentLog, warn: (message: string) => void warnings.push(message) }
  const { writes, write, temp } = await opened(t.testdir(), new URL('./no-such-thread.js', import.meta.url), log)
  for (const round of [1, 2]) {
    await Promise.all(Array.from({ length: 90 }, (_, i) => write(`${round}-${i}`, bytesOf(100))))
    t.equal(warnings.length, 1, 'and said once')
  }
  t.same(await temp(), [])
  await writes.close()
})
