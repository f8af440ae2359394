import { rm } from 'node:fs/promises'
import { join } from 'node:path'
import { cleanEnv, run } from '../../process.js'
import { programOf, type Tool, write } from './tool.js'

const { program, skip } = programOf('REMEXEC_TEST_SCCACHE')

/** With a server of its own for each build, because sccache has its cache in it. */
export const sccache: Tool = {
  ...{ name: 'sccache', kind: 'webdav', skip },
  prepare: async (t, folder) => {
    await write(folder, { 'answer.c': 'int answer(void) { return 42; }\n' })
    const env = {
      ...cleanEnv(folder),
      SCCACHE_SERVER_UDS: join(folder, 'sccache.sock'),
      SCCACHE_DIR: join(folder, 'local'),
      SCCACHE_WEBDAV_KEY_PREFIX: 'team/app',
      SCCACHE_IDLE_TIMEOUT: '60',
    }
    const ask = (args: readonly string[], more: object = {}) => run(program, args, folder, { ...env, ...more })
    t.teardown(() => ask(['--stop-server']))
    return {
      made: join(folder, 'answer.o'),
      build: async (url) => {
        for (const path of ['local', 'answer.o']) await rm(join(folder, path), { recursive: true, force: true })
        const compile = ['gcc', '-c', 'answer.c', '-o', 'answer.o']
        const { code, output } = await ask(compile, { SCCACHE_WEBDAV_ENDPOINT: url })
        const statistics = code === 0 ? await ask(['--show-stats']) : { output: '' }
        await ask(['--stop-server'])
        return { code, output: output + statistics.output }
      },
      saysRemote: /^Cache hits +1/m,
    }
  },
}
