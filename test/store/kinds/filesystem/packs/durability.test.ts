import { execFile } from 'node:child_process'
import { readFile } from 'node:fs/promises'
import { dirname, join } from 'node:path'
import { promisify } from 'node:util'
import t from 'tap'
import { loader, programOf } from '../program.js'

const run = promisify(execFile)

const hasStrace = await run('strace', ['-f', '--seccomp-bpf', '-o', '/dev/null', 'true']).then(
  () => true,
  () => false,
)

t.test(
  'a pack is synced as durability promises, and goes only after the removal of its last blob, or the new place, is in the log',
  { skip: !hasStrace && 'no strace' },
  async (t) => {
    for (const durability of ['process_exit', 'power_loss'] as const) {
      const folder = t.testdir()
      const trace = join(folder, 'trace')
      const watch = [
        '-f',
        '--seccomp-bpf',
        '-y',
        '-e',
        'trace=fsync,fdatasync,unlink,write,writev,pwrite64,pwritev',
        '-o',
        trace,
      ]
      const program = [...loader, programOf('packs/durable.ts'), folder, durability]
      const { stdout } = await run('strace', [...watch, process.execPath, ...program])
      const { before, behind } = JSON.parse(stdout) as { readonly before: string; readonly behind: string }
      const lines = (await readFile(trace, 'utf8')).split('\n')
      const syncs = (path: string): number[] =>
        lines.flatMap((line, at) => (/f(data)?sync\(/.test(line) && line.includes(`<${path}`) ? [at] : []))
      const deletionOf = (path: string): number => lines.findIndex((line) => line.includes(`unlink("${path}"`))
      const deletedAt = deletionOf(before)
      const isBefore = (at: number): boolean => at < deletedAt
      t.ok(deletedAt > 0, `${durability}: deleted`)
      const records = join(folder, 'content', 'records')
      const between = lines.slice(deletedAt, deletionOf(behind))
      const isRecord = (line: string): boolean => /write\w*\(/.test(line) && line.includes(`<${records}/`)
      t.ok(between.some(isRecord), `${durability}: a file goes after the removal of its last blob is in the log`)
      const isSynced = durability === 'power_loss'
      t.equal(syncs(before).length > 0, isSynced, `${durability}: the bytes`)
      for (let path = dirname(before), level = 0; level < 2; path = dirname(path), level++)
        t.equal(syncs(`${path}>`).length > 0, isSynced, `${durability}: the name, ${level} levels up`)
      const [movedAt = Number.POSITIVE_INFINITY] = syncs(behind).filter(isBefore)
      t.ok(movedAt < deletedAt, `${durability}: what has moved, before the old file goes`)
      t.ok(
        syncs(`${records}/`).some((at) => isBefore(at) && at > movedAt),
        `${durability}: and where it is`,
      )
    }
  },
)

t.test(
  'what is added while a file is linked goes elsewhere: the link keeps its length',
  { skip: !hasStrace && 'no strace' },
  async (t) => {
    // Writes come late, so that a link that is taken meanwhile grows.
    const late = ['-f', '--seccomp-bpf', '-o', '/dev/null', '-e', 'inject=pwritev,pwrite64:delay_enter=20ms']
    const program = [...loader, programOf('packs/added.ts'), t.testdir()]
    const { stdout } = await run('strace', [...late, process.execPath, ...program])
    t.same(JSON.parse(stdout), [])
  },
)
