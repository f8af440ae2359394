import { execFile } from 'node:child_process'
import { mkdir, readdir, readFile } from 'node:fs/promises'
import { dirname, join } from 'node:path'
import { promisify } from 'node:util'
import t from 'tap'
import { Code } from '../../../../src/base/status-error.js'
import { bytesOf, digestOf, get, isPresent, put } from '../../blobs.js'
import { inspect, killWriter } from './kill.js'
import { openFilesystem } from './open.js'
import { loader, programOf } from './program.js'

const run = promisify(execFile)

const KILLS = 3

t.test('kill -9 during uploads keeps acknowledged blobs, and none is truncated', async (t) => {
  for (const durability of ['process_exit', 'power_loss'] as const) {
    const limits = { maxCount: 0, segmentBytes: 256 * 1024 }
    const options = { folder: t.testdir(), from: 0, beganMs: Date.now(), durability, ...limits, blobs: 500, afterMs: 5 }
    const { written } = await killWriter(options)
    t.ok(written >= 500, `${written} were written`)
    t.match(await inspect(options, written), { lost: 0, torn: 0, stale: 0, tempFiles: 0 })
  }
})

// That every kind of background work was under way when a writer was killed is a matter of luck: kills.nightly.ts kills until it was.
t.test('kill -9 during eviction and cleaning loses no recent blob and restores no removed one', async (t) => {
  for (const durability of ['process_exit', 'power_loss'] as const) {
    const limits = { maxCount: 600, segmentBytes: 256 * 1024 }
    const folder = t.testdir()
    const beganMs = Date.now()
    let evicted = 0
    let from = 0
    for (let kill = 0; kill < KILLS; kill++) {
      const options = { folder, from, beganMs, durability, ...limits, blobs: 1000, afterMs: 7 * kill }
      const { written, ...report } = await killWriter(options)
      const { replayedCopies: _, ...found } = await inspect(options, written)
      t.same(found, { lost: 0, torn: 0, stale: 0, forgotten: 0, tempFiles: 0 }, `${durability}, kill ${kill}`)
      evicted += report.evicted
      from = written
    }
    t.ok(evicted > 0, `${durability}: ${evicted} were evicted`)
  }
})

const hasStrace = await run('strace', ['-f', '--seccomp-bpf', '-o', '/dev/null', 'true']).then(
  () => true,
  () => false,
)

t.test('the syncs are those that durability promises', { skip: !hasStrace && 'no strace' }, async (t) => {
  for (const durability of ['process_exit', 'power_loss'] as const) {
    const folder = t.testdir()
    const trace = join(folder, 'trace')
    const watch = ['-f', '--seccomp-bpf', '-y', '-e', 'trace=fsync,fdatasync,rename', '-o', trace]
    await run('strace', [...watch, process.execPath, ...loader, programOf('durable.ts'), folder, durability])
    const lines = (await readFile(trace, 'utf8')).split('\n')
    const syncs = (path: string): number[] =>
      lines.flatMap((line, at) => (/f(data)?sync\(/.test(line) && line.includes(`<${path}>`) ? [at] : []))
    const [segment = ''] = await readdir(join(folder, 'content', 'records'))
    const segmentSyncs = syncs(join(folder, 'content', 'records', segment))
    // A folder is created after the first failed attempt to move a blob there, so the last attempt counts.
    const moves = new Map<string, { readonly path: string; readonly at: number }>()
    for (const [at, line] of lines.entries()) {
      const [, temp, path] = /rename\("([^"]*\/temp\/[^"]+)", "([^"]+)"/.exec(line) ?? []
      if (temp !== undefined && path !== undefined) moves.set(temp, { path, at })
    }
    t.equal(moves.size, 3, durability)
    const isSynced = durability === 'power_loss'
    // One for each of six blobs written one after the other; else only that of the checkpoint.
    t.ok(isSynced ? segmentSyncs.length >= 6 : segmentSyncs.length <= 2, `${segmentSyncs.length} syncs of records`)
    for (const [temp, { path, at }] of moves) {
      t.equal(
        syncs(temp).some((sync) => sync < at),
        isSynced,
        'the file, before it gets its name',
      )
      const folderSyncs = syncs(dirname(path)).filter((sync) => sync > at)
      t.equal(folderSyncs.length > 0, isSynced, 'its folder, after that')
      const isRecordLast = segmentSyncs.some((sync) => sync > (folderSyncs[0] ?? Number.POSITIVE_INFINITY))
      t.equal(isRecordLast, isSynced, 'and then the record that makes it visible')
      t.equal(syncs(dirname(dirname(path))).length > 0, isSynced, 'and the folders above, which came into being')
    }
  }
})

t.test(
  'a blob whose name could not be synced is not kept, and its file is deleted',
  { skip: !hasStrace && 'no strace' },
  async (t) => {
    const folder = t.testdir()
    const bytes = bytesOf(200_000, 'unsynced')
    const digest = digestOf(bytes)
    const blobFolder = join(folder, 'content', 'sha256', digest.hash.slice(0, 2))
    await mkdir(blobFolder, { recursive: true })
    await mkdir(join(folder, 'content', 'records'))
    const failing = ['-f', '-o', '/dev/null', '-P', blobFolder, '-e', 'inject=fsync:error=EIO']
    const program = [process.execPath, ...loader, programOf('sync-fails.ts'), folder]
    const { stdout } = await run('strace', [...failing, ...program])
    t.same(JSON.parse(stdout), { code: Code.DATA_LOSS, isPresent: false, temp: [], files: [] })
    const { store, close } = await openFilesystem(folder, { durability: 'power_loss' })
    t.notOk(await isPresent(store, digest), 'nor after a restart')
    await put(store, digest, bytes)
    t.ok((await get(store, digest)).equals(bytes), 'the next upload is kept')
    await close()
  },
)
