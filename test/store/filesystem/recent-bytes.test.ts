import { unlink } from 'node:fs/promises'
import { join } from 'node:path'
import fc from 'fast-check'
import t from 'tap'
import { RecentBytes } from '../../../src/store/filesystem/recent-bytes.js'
import { getBytes, putBytes } from '../../../src/store/store.js'
import { bytesOf, call, digestOf, isPresent } from '../blobs.js'
import { rejects } from '../suite.js'
import { openFilesystem } from './open.js'

const digests = Array.from({ length: 8 }, (_, number) => digestOf(Buffer.from(`blob ${number}`)))

t.test('any sequence of reads and changes gives the bytes of the last change or none', async (t) => {
  const steps = fc.array(
    fc.record({
      kind: fc.constantFrom('begin', 'begin', 'end', 'fail', 'change', 'write', 'get'),
      number: fc.nat(digests.length - 1),
      sizeBytes: fc.constantFrom(10, 1024, 3000, 16_384, 16_385),
    }),
    { maxLength: 80 },
  )
  const holds = fc.property(steps, (sequence) => {
    const recent = new RecentBytes(20_000)
    const versions = digests.map(() => 0)
    const underWay = digests.map((): { begun: ReturnType<RecentBytes['begin']>; version: number }[] => [])
    for (const { kind, number, sizeBytes } of sequence) {
      const digest = digests[number] ?? digestOf(Buffer.alloc(0))
      const version = versions[number] ?? 0
      if (kind === 'begin') underWay[number]?.push({ begun: recent.begin(digest), version })
      if (kind === 'change' || kind === 'write') {
        versions[number] = version + 1
        recent.forget(digest)
      }
      if (kind === 'write') {
        const bytes = Buffer.alloc(sizeBytes, version + 1)
        recent.keepWritten(digest, bytes)
        bytes.fill(0xff)
      }
      if (kind === 'end' || kind === 'fail') {
        const read = underWay[number]?.shift()
        if (read?.begun === undefined) continue
        const bytes = kind === 'end' ? Buffer.alloc(sizeBytes, read.version) : undefined
        recent.keep(digest, read.begun, bytes)
      }
      const found = recent.get(digest)
      if (found !== undefined && found[0] !== (versions[number] ?? 0) % 256) return false
    }
    const kept = digests.flatMap((digest) => recent.get(digest)?.length ?? [])
    return kept.reduce((sum, sizeBytes) => sum + sizeBytes, 0) <= 20_000 && kept.every((size) => size <= 16_384)
  })
  t.doesNotThrow(() => fc.assert(holds, { numRuns: 300 }))
})

t.test('a blob read twice comes from memory the second time, and is gone with its file when removed', async (t) => {
  const folder = t.testdir()
  const files = await openFilesystem(folder, { policy: { max_count: 3 } })
  const bytes = bytesOf(2000)
  const digest = digestOf(bytes)
  await putBytes(files.store, digest, bytes, call)
  const first = await getBytes(files.store, digest, 2000, call)
  t.equal(await getBytes(files.store, digest, 2000, call), first, 'the very same buffer')
  await rejects(t, getBytes(files.store, digest, 1999, call), 'RESOURCE_EXHAUSTED')
  const [name = ''] = await files.blobFiles()
  await unlink(join(folder, 'content', 'sha256', digest.hash.slice(0, 2), name))
  t.equal(await getBytes(files.store, digest, 2000, call), first, 'nobody looked at the file')
  await files.store.remove(digest, call)
  await rejects(t, getBytes(files.store, digest, 2000, call), 'NOT_FOUND')

  await putBytes(files.store, digest, bytes, call)
  for (let number = 0; number < 8; number++) {
    const other = bytesOf(100, `other ${number}`)
    await putBytes(files.store, digestOf(other), other, call)
    if (number < 4) t.ok((await getBytes(files.store, digest, 2000, call)).equals(bytes), 'reading it keeps it')
  }
  t.notOk(await isPresent(files.store, digest))
  await rejects(t, getBytes(files.store, digest, 2000, call), 'NOT_FOUND')
  await files.close()
})

t.test('a small blob that was just written is read from memory, also when it replaces another', async (t) => {
  const folder = t.testdir()
  const files = await openFilesystem(folder, {})
  const key = digestOf(Buffer.from('an action'))
  for (const text of ['first', 'second one']) {
    await putBytes(files.store, key, Buffer.from(text), call)
    const [name = ''] = await files.blobFiles()
    await unlink(join(folder, 'content', 'sha256', key.hash.slice(0, 2), name))
    t.equal((await getBytes(files.store, key, 100, call)).toString(), text, 'nobody looked at the file')
  }
  await files.close()
})

t.test('without a budget nothing is kept', async (t) => {
  const files = await openFilesystem(t.testdir(), { small_blob_cache_size: 0 })
  const bytes = bytesOf(2000)
  await putBytes(files.store, digestOf(bytes), bytes, call)
  const first = await getBytes(files.store, digestOf(bytes), 2000, call)
  t.not(await getBytes(files.store, digestOf(bytes), 2000, call), first)
  await files.close()
})
