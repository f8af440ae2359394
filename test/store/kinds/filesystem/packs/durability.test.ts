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
  'a pack is synced as durability promises, and one goes only after what has moved from it was synced',
  { skip: !hasStrace && 'no strace' },
  async (t) => {
    for (const durability of ['process_exit', 'power_loss'] as const) {
      const folder = t.testdir()
      const trace = join(folder, 'trace')
      const watch = ['-f', '--seccomp-bpf', '-y', '-e', 'trace=fsync,fdatasync,unlink', '-o', trace]
      const program = [...loader, programOf('packs/durable.ts'), folder, durability]
      const { stdout } = await run('strace', [...watch, process.execPath, ...program])
      const { before, behind } = JSON.parse(stdout) as { readonly before: string; readonly behind: string }
      const lines = (await readFile(trace, 'utf8')).split('\n')
      const syncs = (path: string): number[] =>
        lines.flatMap((line, at) => (/f(data)?sync\(/.test(line) && line.includes(`<${path}`) ? [at] : []))
      const deletedAt = lines.findIndex((line) => line.includes(`unlink("${before}"`))
      const isBefore = (at: number): boolean => at < deletedAt
      t.ok(deletedAt > 0, `${durability}: deleted`)
      const isSynced = durability === 'power_loss'
      t.equal(syncs(before).length > 0, isSynced, `${durability}: the bytes`)
      for (let path = dirname(before), level = 0; level < 2; path = dirname(path), level++)
        t.equal(syncs(`${path}>`).length > 0, isSynced, `${durability}: the name, in ${path}`)
      t.ok(syncs(behind).some(isBefore), `${durability}: what has moved, before the old file goes`)
      t.ok(syncs(join(folder, 'content', 'records')).some(isBefore), `${durability}: and where it is`)
    }
  },
)
