import { join } from 'node:path'
import { cleanEnv, run } from '../../process.js'
import { programOf, type Tool, without, write } from './tool.js'

const { program, skip } = programOf('REMEXEC_TEST_SCCACHE')

/** With a server of its own for each build, because sccache has its cache in it. */
export const sccache: Tool = {
  ...{ name: 'sccache', kind: 'webdav', skip },
  prepare: async (t, folder) => {
    await write(folder, { 'hello.c': 'int answer(void) { return 42; }\n' })
    const env = {
      ...cleanEnv(folder),
      SCCACHE_SERVER_UDS: join(folder, 'sccache.sock'),
      SCCACHE_DIR: join(folder, 'local'),
      SCCACHE_WEBDAV_KEY_PREFIX: 'team/app',
      SCCACHE_IDLE_TIMEOUT: '60',
    }
    const ask = (args: readonly string[], more: object = {}) => run(program, args, folder, { ...env, ...more })
    t.teardown(() => ask(['--stop-server']))
    const remove = without(folder, 'local', 'hello.o')
    return {
      ...{ cwd: folder, env, command: { name: 'sccache', program } },
      forget: async () => {
        await ask(['--stop-server'])
        await remove()
      },
      made: join(folder, 'hello.o'),
      build: async (url) => {
        await remove()
        const compile = ['gcc', '-c', 'hello.c', '-o', 'hello.o']
        const { code, output } = await ask(compile, { SCCACHE_WEBDAV_ENDPOINT: url })
        const statistics = code === 0 ? await ask(['--show-stats']) : { output: '' }
        await ask(['--stop-server'])
        return { code, output: output + statistics.output }
      },
      saysRemote: /^Cache hits +1/m,
    }
  },
}
