import { join } from 'node:path'
import { cleanEnv, run } from '../../process.js'
import { programOf, type Tool, without, write } from './tool.js'

const { program, skip } = programOf('REMEXEC_TEST_GO_CACHER')

/** The go command with a helper that speaks HTTP. */
export const go: Tool = {
  ...{ name: 'Go', kind: 'go', skip },
  prepare: async (_, folder) => {
    // Without imports, so that no package of the standard library is built.
    await write(join(folder, 'work'), {
      'go.mod': 'module answer\n\ngo 1.24\n',
      'answer.go': 'package answer\n\nfunc Answer() int { return 42 }\n',
    })
    const made = join(folder, 'answer.a')
    const env = { ...cleanEnv(folder), GOCACHE: join(folder, 'unused'), GOTOOLCHAIN: 'local' }
    const cwd = join(folder, 'work')
    // The helper keeps a folder in the user's cache unless it is told another.
    const forget = without(folder, 'cache', '.cache', 'answer.a')
    return {
      ...{ cwd, env, forget, command: { name: 'go-cacher', program } },
      made,
      build: async (url) => {
        await forget()
        return run('go', ['build', '-o', made, '.'], cwd, {
          ...env,
          GOCACHEPROG: `${program} -cache-server=${url} -cache-dir=${join(folder, 'cache')}`,
        })
      },
    }
  },
}
