import { join } from 'node:path'
import { cleanEnv, run } from '../../process.js'
import { programOf, type Tool, without, write } from './tool.js'

const ccacheAt = (name: string, variable: string): Tool => {
  const { program, skip } = programOf(variable)
  return {
    ...{ name, kind: 'ccache', skip },
    prepare: async (_, folder) => {
      await write(folder, { 'hello.c': 'int answer(void) { return 42; }\n' })
      const env = { ...cleanEnv(folder), CCACHE_DIR: join(folder, 'local') }
      const forget = without(folder, 'local', 'hello.o')
      return {
        ...{ cwd: folder, env, forget, command: { name: 'ccache', program } },
        made: join(folder, 'hello.o'),
        build: async (url) => {
          await forget()
          const compile = ['gcc', '-c', 'hello.c', '-o', 'hello.o']
          const { code, output } = await run(program, compile, folder, { ...env, CCACHE_REMOTE_STORAGE: url })
          const statistics = await run(program, ['--print-stats'], folder, env)
          return { code, output: output + statistics.output }
        },
        saysRemote: /^remote_storage_hit\t1/m,
      }
    },
  }
}

export const ccache = ccacheAt('ccache 4.14', 'REMEXEC_TEST_CCACHE')
export const oldCcache = ccacheAt('ccache 4.7', 'REMEXEC_TEST_CCACHE_4_7')
