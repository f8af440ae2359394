import { mkdirSync, readdirSync, readFileSync, renameSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { crc32 } from 'node:zlib'
import t from 'tap'
import { ManualClock } from '../../../../src/base/clock.js'
import type { Store } from '../../../../src/blobs/store.js'
import { type Log, textLog } from '../../../../src/log/log.js'
import { Digest } from '../../../../src/reapi/digest.js'
import { checkFolder } from '../../../../src/store/kinds/filesystem/check-folder.js'
import { Blob } from '../../../../src/stream/blob/blob.js'
import { until } from '../../../until.js'
import { bytesOf, call, digestOf, get, isPresent, source } from '../../blobs.js'
import { rejects } from '../../suite.js'
import { openFilesystem } from './open.js'

/** A small blob, one in a pack and two in files: one that is read at once and one that is not. */
const SIZES = { bytes: 1000, packed: 3000, 'short file': 50_000, 'long file': 300_000 } as const

/** Bytes that are not those of the digest, written like any others: as if memory had changed between hash and checksum. */
const wrong = (sizeBytes: number): { readonly digest: Digest; readonly bytes: Buffer } => {
  const bytes = bytesOf(sizeBytes, `wrong ${sizeBytes}`)
  const digest = digestOf(bytes)
  bytes.writeUInt8(bytes.readUInt8(sizeBytes >> 1) ^ 1, sizeBytes >> 1)
  return { digest, bytes }
}

type Trust = 'checked' | 'unchecked'

/** A writer that is wrong believes that it has compared the bytes. Without that the entry is as one of an earlier version. */
const keep = async (store: Store, digest: Digest, bytes: Buffer, trust: Trust, isPacked: boolean): Promise<void> => {
  const plain = bytes.length > 100_000 ? Blob.ofPath([source([bytes])]) : Blob.ofBytes(bytes)
  const blob = trust === 'checked' ? plain.assumeVerified(digest) : plain
  if (!isPacked) return store.put(digest, blob, call)
  const outcomes = await store.putAll([{ digest, blob }], { ...call, together: {} })
  if (outcomes[0] !== undefined) throw outcomes[0]
}

const options = { small_blob_size: 1500 }

const filled = async (folder: string, trust: Trust, digestFor = (digest: Digest): Digest => digest) => {
  const files = await openFilesystem(folder, options)
  for (const [kind, sizeBytes] of Object.entries(SIZES)) {
    const { digest, bytes } = wrong(sizeBytes)
    await keep(files.store, digestFor(digest), bytes, trust, kind === 'packed')
    const right = bytesOf(sizeBytes, `right ${kind}`)
    await keep(files.store, digestFor(digestOf(right)), right, trust, kind === 'packed')
  }
  await files.close()
  return join(folder, 'content')
}

const present = async (store: Store): Promise<string[]> => {
  const found: string[] = []
  for (const [kind, sizeBytes] of Object.entries(SIZES)) {
    if (await isPresent(store, wrong(sizeBytes).digest)) found.push(`wrong ${kind}`)
    if (await isPresent(store, digestOf(bytesOf(sizeBytes, `right ${kind}`)))) found.push(`right ${kind}`)
  }
  return found
}

const RIGHT = Object.keys(SIZES).map((kind) => `right ${kind}`)

const logged = (): { readonly lines: string[]; readonly log: Log } => {
  const lines: string[] = []
  return { lines, log: textLog('info', (line) => void lines.push(line)) }
}

/** Runs a round of the scrub over a folder. */
const scrubbed = async (folder: string, work: (store: Store, lines: readonly string[]) => Promise<void>) => {
  const { lines, log } = logged()
  const clock = new ManualClock(Date.now())
  const files = await openFilesystem(folder, { ...options, clock, log, scrub_bytes_per_s: 1_000_000 })
  await until(async () => {
    clock.advance(1000)
    return lines.some((line) => line.includes('verified all blobs of a store'))
  }, 'a round of the scrub')
  await work(files.store, lines)
  await files.close()
}

t.test('a scrub drops blobs whose bytes were wrong when they were written', async (t) => {
  const folder = t.testdir()
  await filled(folder, 'checked')
  await scrubbed(folder, async (store, lines) => {
    t.same(await present(store), RIGHT)
    const dropped = lines.filter((line) => line.includes('its bytes are not those of its digest'))
    t.equal(dropped.length, Object.keys(SIZES).length)
    t.match(lines.join('\n'), /verified all blobs of a store.* damaged=4/)
  })
})

t.test('check lists blobs whose bytes were wrong when they were written, with and without a checkpoint', async (t) => {
  for (const hasCheckpoint of [true, false]) {
    const content = await filled(t.testdir(), 'checked')
    if (!hasCheckpoint) renameSync(join(content, 'index'), join(content, '..', 'index'))
    const { damage, hashes } = await checkFolder(content, () => {})
    t.equal(damage.length, 4)
    for (const text of damage) t.match(text, 'its bytes are not those of its digest')
    t.match(hashes, { matching: 4, differing: 0 })
  }
})

t.test('what an earlier version kept is compared with its digest by its first read as content', async (t) => {
  const folder = t.testdir()
  await filled(folder, 'unchecked')
  const files = await openFilesystem(folder, options)
  for (const kind of ['packed', 'short file', 'long file'] as const) {
    const { digest } = wrong(SIZES[kind])
    const code = kind === 'long file' ? 'DATA_LOSS' : 'NOT_FOUND'
    await rejects(t, get(files.store, digest), code)
    t.notOk(await isPresent(files.store, digest), `${kind}: dropped`)
    const right = bytesOf(SIZES[kind], `right ${kind}`)
    t.ok((await get(files.store, digestOf(right))).equals(right))
  }
  await files.close()
  const { hashes } = await checkFolder(join(folder, 'content'), () => {})
  t.match(hashes, { matching: 4, differing: 1 })
})

t.test('under keys other bytes are no damage, whoever looks', async (t) => {
  const folder = t.testdir()
  const content = await filled(folder, 'unchecked', (digest) => digest.asKey())
  const files = await openFilesystem(folder, options)
  for (const sizeBytes of Object.values(SIZES)) {
    const { digest, bytes } = wrong(sizeBytes)
    t.ok((await get(files.store, digest.asKey())).equals(bytes))
  }
  await files.close()
  await scrubbed(folder, async (store, lines) => {
    t.equal((await present(store)).length, 8)
    t.match(lines.join('\n'), /verified all blobs of a store.* damaged=0/)
    t.match(lines.join('\n'), /suspects=4/, 'a wrong blob of an earlier version would look the same')
  })
  t.match(await checkFolder(content, () => {}), { damage: [], hashes: { matching: 4, differing: 4, ofItsLength: 4 } })
  const asCas = await checkFolder(content, () => {}, { isCas: true })
  t.equal(asCas.damage.length, 4, 'unless the operator says that all keys are hashes')
})

t.test('blobs of isolated instances are no damage', async (t) => {
  const folder = t.testdir()
  const content = await filled(folder, 'checked', (digest) => digest.isolatedFor('tenant'))
  await scrubbed(folder, async (_, lines) => {
    t.match(lines.join('\n'), /verified all blobs of a store.* damaged=0/)
  })
  t.match(await checkFolder(content, () => {}), { damage: [], hashes: { matching: 0, differing: 8 } })
})

t.test('a blob whose key proved to be its hash is found if its bytes decay, checksum and all', async (t) => {
  const folder = t.testdir()
  await filled(folder, 'unchecked')
  await scrubbed(folder, async (store) => {
    t.equal((await present(store)).length, 8)
  })
  const content = join(folder, 'content')
  t.match(await checkFolder(content, () => {}), { damage: [], hashes: { matching: 4, differing: 4 } })
  // One bit of a record, and both of its checksums.
  const records = join(content, 'records')
  const path = join(records, readdirSync(records)[0] ?? '')
  const text = readFileSync(path)
  const bytes = bytesOf(SIZES.bytes, 'right bytes')
  const begin = text.indexOf(bytes)
  text.writeUInt8(text.readUInt8(begin) ^ 1, begin)
  text.writeUInt32LE(crc32(text.subarray(begin, begin + bytes.length)), begin - 88 + 12)
  text.writeUInt32LE(crc32(text.subarray(begin - 88 + 12, begin)), begin - 88 + 8)
  writeFileSync(path, text)
  const { damage } = await checkFolder(content, () => {})
  t.match(damage.join(), `${digestOf(bytes).key}: its bytes are not those of its digest`)
})

t.test('a start after kill -9 knows which keys are hashes', async (t) => {
  const folder = t.testdir()
  const content = await filled(folder, 'checked')
  renameSync(join(content, 'index'), join(folder, 'no-index'))
  await scrubbed(folder, async (store) => void t.same(await present(store), RIGHT))
})

t.test('check says that a file of records is gone which the checkpoint needs', async (t) => {
  const folder = t.testdir()
  const content = await filled(folder, 'checked')
  t.equal((await checkFolder(content, () => {})).damage.length, 4)
  const records = join(content, 'records')
  mkdirSync(join(folder, 'away'))
  for (const name of readdirSync(records)) renameSync(join(records, name), join(folder, 'away', name))
  const { damage, blobs } = await checkFolder(content, () => {})
  t.match(damage.join('\n'), /a file of records is gone: .*blobs=8/)
  t.equal(blobs.count, 0)
})

t.test('a record says in its time that its key is a hash, and its checksum covers that', async (t) => {
  const content = await filled(t.testdir(), 'checked')
  const records = join(content, 'records')
  const path = join(records, readdirSync(records)[0] ?? '')
  const text = readFileSync(path)
  const at = text.indexOf(Buffer.from(wrong(SIZES.bytes).digest.hash, 'hex')) - 56
  t.equal(text.readDoubleLE(at + 40) % 1, 0.5, 'what earlier versions take for a time')
  text.writeDoubleLE(Math.floor(text.readDoubleLE(at + 40)), at + 40)
  text.writeUInt32LE(crc32(text.subarray(at + 12, at + 56 + 32)), at + 8)
  writeFileSync(path, text)
  renameSync(join(content, 'index'), join(content, '..', 'index'))
  const { damage, hashes } = await checkFolder(content, () => {})
  t.equal(damage.length, 3, 'the other three')
  t.match(hashes, { differing: 1, ofItsLength: 1 })
})

t.test('keys of the server itself are no damage, also in the folder of a CAS', async (t) => {
  const folder = t.testdir()
  const content = await filled(folder, 'checked', ({ key }) => Digest.ofOwn('CHUNK_LIST', key))
  await scrubbed(folder, async (_, lines) => {
    t.match(lines.join('\n'), /verified all blobs of a store.* damaged=0/)
    t.notMatch(lines.join('\n'), 'suspects')
  })
  t.match(await checkFolder(content, () => {}, { isCas: true }), {
    damage: [],
    hashes: { differing: 8, ofItsLength: 0 },
  })
})
