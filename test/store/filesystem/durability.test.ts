import { execFile, fork } from 'node:child_process'
import { readFile } from 'node:fs/promises'
import { dirname, join } from 'node:path'
import { promisify } from 'node:util'
import t from 'tap'
import { bytesOf, digestOf, get, isPresent } from '../blobs.js'
import { openFilesystem } from './open.js'
import { loader, programOf } from './program.js'

const run = promisify(execFile)

t.test('kill -9 amid batches of small blobs keeps what was said to be written, and nothing torn', async (t) => {
  const folder = t.testdir()
  // With tap's own loader: tsx does not reach the threads that write.
  const child = fork(programOf('crash-bytes.ts'), [folder])
  let written = 0
  child.on('message', (count) => {
    written = Number(count)
    if (written >= 500) child.kill('SIGKILL')
  })
  await new Promise((resolve) => child.once('exit', resolve))
  t.ok(written >= 500, `${written} were written`)
  const files = await openFilesystem(folder)
  t.same(await files.tempFiles(), [], 'half-written files are gone')
  let found = 0
  for (let number = 0; number < written + 100; number++) {
    const bytes = bytesOf(4000 + (number % 100), `small ${number}`)
    const isThere = await isPresent(files.store, digestOf(bytes))
    if (number < written && !isThere) t.fail(`blob ${number} is lost`)
    if (isThere && !(await get(files.store, digestOf(bytes))).equals(bytes)) t.fail(`blob ${number} is torn`)
    if (isThere) found++
  }
  t.equal((await files.blobFiles()).length, found)
  await files.close()
})

const hasStrace = await run('strace', ['-f', '--seccomp-bpf', '-o', '/dev/null', 'true']).then(
  () => true,
  () => false,
)

t.test('what the disk is asked for is what durability promises', { skip: !hasStrace && 'no strace' }, async (t) => {
  for (const durability of ['process_exit', 'power_loss'] as const) {
    const folder = t.testdir()
    const trace = join(folder, 'trace')
    const watch = ['-f', '--seccomp-bpf', '-y', '-e', 'trace=fsync,rename', '-o', trace]
    await run('strace', [...watch, process.execPath, ...loader, programOf('durable.ts'), folder, durability])
    const lines = (await readFile(trace, 'utf8')).split('\n')
    const syncs = (path: string): number[] =>
      lines.flatMap((line, at) => (line.includes('fsync(') && line.includes(`<${path}>`) ? [at] : []))
    // A folder comes into being after the first attempt to move a blob into it: the last attempt counts.
    const moves = new Map<string, { readonly path: string; readonly at: number }>()
    for (const [at, line] of lines.entries()) {
      const [, temp, path] = /rename\("([^"]*\/temp\/[^"]+)", "([^"]+)"/.exec(line) ?? []
      if (temp !== undefined && path !== undefined) moves.set(temp, { path, at })
    }
    t.equal(moves.size, 6, durability)
    const isSynced = durability === 'power_loss'
    for (const [temp, { path, at }] of moves) {
      t.equal(
        syncs(temp).some((sync) => sync < at),
        isSynced,
        'the file, before it gets its name',
      )
      t.equal(
        syncs(dirname(path)).some((sync) => sync > at),
        isSynced,
        'its folder, after that',
      )
      t.equal(syncs(dirname(dirname(path))).length > 0, isSynced, 'and those above, which came into being')
    }
    t.equal(syncs(join(folder, 'content')).length > 0, isSynced)
  }
})
