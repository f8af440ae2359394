import { mkdirSync, readFileSync, statSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import t, { type Test } from 'tap'
import type { FileKind, Layout } from '../../src/adopt/found.js'
import { importBlobs, importResults } from '../../src/adopt/import.js'
import { layoutIfThere, layoutOf } from '../../src/adopt/layouts.js'
import { planImport } from '../../src/adopt/plan.js'
import { Tally } from '../../src/adopt/tally.js'
import { type OpenInstance, openInstance } from '../../src/assembly/open-instance.js'
import { systemClock } from '../../src/base/clock.js'
import { getBytes, missingOf } from '../../src/blobs/store.js'
import { loadConfig } from '../../src/config/load.js'
import { silentLog } from '../../src/log/log.js'
import { unhiddenSecrets } from '../../src/log/secrets.js'
import { codec } from '../../src/proto/codec.js'
import { Digest } from '../../src/reapi/digest.js'
import { digestFunctions } from '../../src/reapi/digest-function.js'
import { internalCall } from '../../src/rpc/call.js'
import { root } from '../cli/program.js'
import { drawnBytes } from '../drawn.js'
import { BazelRemoteFolder, casblobOf, sha256, writeUsed } from './folders.js'

const { SHA256, BLAKE3 } = digestFunctions
const resultCodec = codec('build.bazel.remote.execution.v2.ActionResult')
const call = internalCall()

/** The stores of the recipe `team`, in a folder of the test. */
const openTeam = async (t: Test, data: string): Promise<OpenInstance> => {
  const env = { REMEXEC_DATA: data, REMEXEC_CAS_SIZE: '10gb' }
  const config = await loadConfig(`${root}deploy/recipes/team/remexec.json5`, { env })
  const opened = await openInstance(config, '', { clock: systemClock, log: silentLog, secrets: unhiddenSecrets })
  t.teardown(() => opened.close())
  return opened
}

const plan = async (folder: string, kind: FileKind, limitBytes = Number.POSITIVE_INFINITY) =>
  planImport(folder, { layout: (await layoutOf(folder)) as Layout, kind, limitBytes })

const digestOf = (bytes: Buffer, digestFunction = SHA256): Digest => Digest.of(bytes, digestFunction)

const copyBlobs = async (folder: string, target: OpenInstance): Promise<Tally> => {
  const tally = new Tally()
  await importBlobs((await plan(folder, 'blobs')).files, target, tally, call)
  return tally
}

t.test('bazel-remote: blobs of every form are there afterwards, and a damaged one is refused', async (t) => {
  const data = t.testdir()
  const folder = new BazelRemoteFolder(join(data, 'old'))
  const blobs = [Buffer.alloc(0), Buffer.from('x'), drawnBytes(70_000), Buffer.alloc(2_500_000, 'abc')]
  folder.blob(blobs[0] as Buffer)
  folder.blob(blobs[1] as Buffer, 'identity')
  folder.blob(blobs[2] as Buffer)
  const large = folder.blob(blobs[3] as Buffer, 'zstd')
  const usedMs = statSync(large).atimeMs
  const good = drawnBytes(5000)
  folder.blob(Buffer.from(good).fill(0, 100, 200), 'zstd', sha256(good))
  const cut = drawnBytes(300_000)
  const cutPath = folder.blob(cut, 'zstd')
  writeFileSync(cutPath, casblobOf(cut, true).subarray(0, 1000))
  const headless = folder.blob(drawnBytes(10), 'zstd')
  writeFileSync(headless, 'no header')
  writeUsed(join(folder.path, 'cas.v2', 'ab', 'something else'), Buffer.from('skipped'), 1)

  const target = await openTeam(t, data)
  const tally = await copyBlobs(folder.path, target)
  t.match(tally.counts, { imported: 3, present: 1, refused: 3, vanished: 0 }, 'the empty blob is always present')
  t.match(tally.refusals.join('\n'), sha256(good))
  for (const bytes of blobs) t.same(await getBytes(target.cas, digestOf(bytes), 3e6, call), bytes)
  t.equal((await missingOf(target.cas, [digestOf(good), digestOf(cut)], call)).length, 2)
  t.same(statSync(large).atimeMs, usedMs, 'the order of use of the other cache is as before')
  t.same(readFileSync(large), casblobOf(blobs[3] as Buffer, true))

  const again = await copyBlobs(folder.path, target)
  t.match(again.counts, { imported: 0, present: 4, refused: 3 }, 'a second run copies nothing twice')
})

t.test('bazel-remote: results come with the size of their action, if all of their blobs are there', async (t) => {
  const data = t.testdir()
  const folder = new BazelRemoteFolder(join(data, 'old'))
  const [action, other, third, output] = ['action', 'other', 'third', 'output'].map((text) => Buffer.from(text)) as [
    Buffer,
    Buffer,
    Buffer,
    Buffer,
  ]
  for (const bytes of [action, other, third, output]) folder.blob(bytes)
  const resultWith = (bytes: Buffer): Buffer =>
    Buffer.from(resultCodec.encode({ outputFiles: [{ path: 'a', digest: digestOf(bytes).toMessage() }] }))
  folder.result(sha256(action), resultWith(output))
  folder.result(sha256(other), resultWith(Buffer.from('evicted')))
  folder.result(sha256(third), Buffer.from('no result'))
  folder.result(sha256(Buffer.from('unknown')), resultWith(output))

  const target = await openTeam(t, data)
  await copyBlobs(folder.path, target)
  const { files } = await plan(folder.path, 'blobs')
  const sizes = new Map(files.map(({ hash, sizeBytes }) => [hash, sizeBytes ?? 0]))
  const tally = new Tally()
  await importResults((await plan(folder.path, 'results')).files, target, sizes, tally, call)
  t.match(tally.counts, { imported: 1, refused: 3 })
  const reasons = tally.refusals.join('\n')
  for (const part of ['is not there', 'not an action result', 'its action is not in the folder'])
    t.ok(reasons.includes(part), part)
  if (target.results === undefined) throw new Error('the recipe has an action cache')
  t.same(await getBytes(target.results, digestOf(action), 1000, call), resultWith(output))
  t.equal((await missingOf(target.results, [digestOf(other), digestOf(third)], call)).length, 2)
})

t.test('NativeLink: the blobs of d/ and of older folders, under the digest function that fits', async (t) => {
  const data = t.testdir()
  const old = join(data, 'old')
  const [one, two, damaged] = [drawnBytes(100), drawnBytes(200_000), drawnBytes(300)] as [Buffer, Buffer, Buffer]
  writeUsed(join(old, 'd', `${sha256(one)}-100`), one, 1)
  writeUsed(join(old, `${digestOf(two, BLAKE3).hash}-200000`), two, 2)
  writeUsed(join(old, 'd', `${sha256(damaged)}-300`), drawnBytes(300), 3)
  mkdirSync(join(old, 's'))
  writeUsed(join(old, 's', 'a key'), one, 3)
  const target = await openTeam(t, data)
  const tally = await copyBlobs(old, target)
  t.match(tally.counts, { imported: 2, refused: 1 })
  for (const digest of [digestOf(one), digestOf(two, BLAKE3)]) t.same(await missingOf(target.cas, [digest], call), [])

  const results = join(data, 'results')
  const result = Buffer.from(resultCodec.encode({ stdoutDigest: digestOf(one).toMessage() }))
  writeUsed(join(results, 'd', `${sha256(two)}-42`), result, 1)
  const resultTally = new Tally()
  await importResults((await plan(results, 'results')).files, target, new Map(), resultTally, call)
  t.match(resultTally.counts, { imported: 1, refused: 0 })
  const key = Digest.parse({ hash: sha256(two), sizeBytes: 42 }, SHA256)
  t.same(await missingOf(target.results ?? target.cas, [key], call), [])
})

t.test('the most recently used files are taken if not all fit, the oldest first', async (t) => {
  const folder = new BazelRemoteFolder(t.testdir())
  const blobs = [1, 2, 3, 4].map((byte) => Buffer.alloc(1000, byte))
  for (const bytes of blobs) folder.blob(bytes)
  const { files, bytes, leftOut, leftOutBytes } = await plan(folder.path, 'blobs', 2500)
  t.same(
    files.map(({ hash }) => hash),
    blobs.slice(2).map(sha256),
  )
  t.same([bytes, leftOut.length, leftOutBytes], [2000, 2, 2000])
})

t.test('a folder of no known cache, or none at all, has no layout', async (t) => {
  const folder = t.testdir({ records: {}, sha256: { ab: {} }, index: '' })
  t.equal(await layoutOf(folder), undefined, 'a folder of remexec')
  t.equal(await layoutIfThere(join(folder, 'nothing')), undefined)
})
