import { open, readdir, rm, truncate } from 'node:fs/promises'
import { join } from 'node:path'
import t from 'tap'
import { missingOf } from '../../../../src/blobs/store.js'
import { textLog } from '../../../../src/log/log.js'
import type { Digest } from '../../../../src/reapi/digest.js'
import { bytesOf, call, digestOf, get, isPresent, put } from '../../blobs.js'
import { crashed } from './crashed.js'
import { openFilesystem } from './open.js'

const blob = (number: number): { bytes: Buffer; digest: Digest } => {
  const bytes = bytesOf(1000, `blob ${number}`)
  return { bytes, digest: digestOf(bytes) }
}

const numbers = (count: number): number[] => Array.from({ length: count }, (_, number) => number)

const segmentIn = async (folder: string): Promise<string> => {
  const records = join(folder, 'content', 'records')
  return join(records, (await readdir(records)).sort().at(-1) ?? '')
}

const flip = async (path: string, at: number, bit: number): Promise<void> => {
  const file = await open(path, 'r+')
  const byte = Buffer.alloc(1)
  await file.read(byte, 0, 1, at)
  byte.writeUInt8(byte.readUInt8(0) ^ (1 << bit), 0)
  await file.write(byte, 0, 1, at)
  await file.close()
}

t.test('a flipped bit in the header of a file of records loses no blob, and is repaired', async (t) => {
  for (const hasCheckpoint of [true, false]) {
    const folder = t.testdir()
    const first = await openFilesystem(folder)
    for (const number of numbers(10)) await put(first.store, blob(number).digest, blob(number).bytes)
    await first.close()
    for (let at = 0; at < 64; at++) {
      await flip(await segmentIn(folder), at, at % 8)
      if (!hasCheckpoint) await rm(join(folder, 'content', 'index'))
      const lines: string[] = []
      const files = await openFilesystem(folder, { log: textLog('warn', (line) => void lines.push(line)) })
      const missing = await missingOf(
        files.store,
        numbers(10).map((number) => blob(number).digest),
        call,
      )
      if (missing.length > 0) t.fail(`${missing.length} blobs are lost by a bit of byte ${at}`)
      if (!(await get(files.store, blob(at % 10).digest)).equals(blob(at % 10).bytes)) t.fail(`wrong by byte ${at}`)
      await files.close()
      if (lines.length !== 1) t.fail(`byte ${at} is told as ${lines.join()}`)
    }
    const lines: string[] = []
    const files = await openFilesystem(folder, { log: textLog('warn', (line) => void lines.push(line)) })
    t.same(lines, [], 'the header was written again')
    await files.close()
  }
})

t.test('blobs uploaded after the file of records was emptied or deleted survive a restart and kill -9', async (t) => {
  for (const damage of ['emptied', 'cut', 'deleted'] as const) {
    const folder = join(t.testdir(), 'store')
    const files = await openFilesystem(folder)
    for (const number of numbers(10)) await put(files.store, blob(number).digest, blob(number).bytes)
    const segment = await segmentIn(folder)
    if (damage === 'deleted') await rm(segment)
    else await truncate(segment, damage === 'emptied' ? 0 : 5000)
    await put(files.store, blob(20).digest, blob(20).bytes)
    const lost = await missingOf(
      files.store,
      numbers(10).map((number) => blob(number).digest),
      call,
    )
    t.equal(lost.length, damage === 'cut' ? 6 : 10, `${damage}: lost blobs are missing after the next upload`)
    for (const { key } of lost) {
      const again =
        numbers(10)
          .map(blob)
          .find(({ digest }) => digest.key === key) ?? blob(0)
      await put(files.store, again.digest, again.bytes)
    }
    const left = `${folder}-crashed`
    await crashed(folder, left)
    await files.close()
    for (const after of [folder, left]) {
      const again = await openFilesystem(after)
      for (const number of [...numbers(10), 20]) {
        if (!(await isPresent(again.store, blob(number).digest)))
          t.fail(`${damage}: blob ${number} is lost in ${after}`)
        else t.ok((await get(again.store, blob(number).digest)).equals(blob(number).bytes))
      }
      await again.close()
    }
  }
})
