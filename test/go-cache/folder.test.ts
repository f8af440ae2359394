import { existsSync, readdirSync } from 'node:fs'
import { readdir, readFile, utimes, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { setImmediate as turn } from 'node:timers/promises'
import t, { type Test } from 'tap'
import { type Fill, GoFolder } from '../../src/go-cache/folder.js'
import { begin, hold, release, waitingAtRest } from '../held-disk.js'

const OUTPUT = 'ab'.repeat(32)
const ACTION = 'cd'.repeat(32)

const opened = async (t: Test) => {
  const path = t.testdir()
  const folder = new GoFolder(path)
  await folder.open()
  const put = (fill: Fill): Promise<void> => folder.put(ACTION, { outputId: OUTPUT, sizeBytes: 10, timeMs: 1 }, fill)
  const files = async (): Promise<string[][]> =>
    Promise.all(['actions', 'outputs'].map((part) => readdir(join(path, part))))
  return { folder, put, files }
}

t.test('an output whose content comes late is there whole once it is put', async (t) => {
  const { folder, put } = await opened(t)
  await put(async (write) => {
    for (const piece of ['first', ' last']) {
      for (let turns = 0; turns < 20; turns++) await turn()
      await write(Buffer.from(piece))
    }
  })
  t.equal(await readFile(folder.pathOf(OUTPUT), 'utf8'), 'first last')
  t.same(await folder.find(ACTION), { outputId: OUTPUT, sizeBytes: 10, timeMs: 1 })
})

t.test('an output whose content breaks off leaves no file and no entry', async (t) => {
  const { folder, put, files } = await opened(t)
  const broken = put(async (write) => {
    await write(Buffer.from('first'))
    throw new Error('the server has gone')
  })
  await t.rejects(broken, { message: 'the server has gone' })
  t.same(await files(), [[], []])
  t.equal(await folder.find(ACTION), undefined)
})

t.test('what nobody used for days is gone once the folder is open', async (t) => {
  const path = t.testdir({ actions: { recent: '' }, outputs: {} })
  const outputs = join(path, 'outputs')
  for (let at = 0; at < 20; at++) {
    await writeFile(join(outputs, `${at}`), '')
    await utimes(join(outputs, `${at}`), 1, 1)
  }
  hold()
  const open = new GoFolder(path).open()
  t.same(await waitingAtRest(), ['unlink'], 'one after the other')
  release()
  await begin('unlink')
  await open
  t.same([readdirSync(outputs), existsSync(join(path, 'actions', 'recent'))], [[], true])
})
