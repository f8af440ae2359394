/** A machine that compiles with ccache, which starts `remexec ccache-storage` as its storage helper. */
import { mkdir, readFile, rm, symlink, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import type { Test } from 'tap'
import { cleanEnv, run } from './process.js'
import { root, scratchFolder } from './scratch.js'

/** With the helper on its PATH, under the names that the package gives it. `program`: ccache 4.13 or later. */
export const ccacheMachine = async (t: Test, program: string) => {
  const folder = await scratchFolder(t)
  const bin = join(folder, 'bin')
  await mkdir(bin)
  for (const scheme of ['grpc', 'grpcs'])
    await symlink(join(root, 'dist', 'ccache-storage.js'), join(bin, `ccache-storage-${scheme}`))
  await writeFile(join(folder, 'answer.c'), 'int answer(void) { return 42; }\n')
  const clean = cleanEnv(folder)
  const env = {
    ...clean,
    PATH: `${bin}:${clean['PATH']}`,
    CCACHE_DIR: join(folder, 'local'),
    CCACHE_LOGFILE: join(folder, 'ccache.log'),
    // For the sockets of helpers.
    XDG_RUNTIME_DIR: folder,
  }
  t.teardown(() => run(program, ['--stop-storage-helpers'], folder, env))
  /** Compiles with an empty local cache, and gives ccache's word for what happened. */
  const compile = async (storage: string) => {
    await rm(join(folder, 'local'), { recursive: true, force: true })
    await rm(join(folder, 'answer.o'), { force: true })
    const command = ['gcc', '-c', 'answer.c', '-o', 'answer.o']
    const { code, output } = await run(program, command, folder, { ...env, CCACHE_REMOTE_STORAGE: storage })
    const statistics = (await run(program, ['--print-stats'], folder, env)).output
    const count = (name: string): number => Number(new RegExp(`^${name}\\t(\\d+)`, 'm').exec(statistics)?.[1])
    await readFile(join(folder, 'answer.o'))
    return {
      ...{ code, output, hits: count('remote_storage_hit'), misses: count('cache_miss') },
      ...{ errors: count('remote_storage_error'), timeouts: count('remote_storage_timeout') },
    }
  }
  const log = () => readFile(join(folder, 'ccache.log'), 'utf8')
  return { folder, env, compile, log }
}
