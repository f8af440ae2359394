import { rm } from 'node:fs/promises'
import { join } from 'node:path'
import { cleanEnv, run } from '../../process.js'
import { programOf, type Tool, write } from './tool.js'

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
    return {
      made,
      build: async (url) => {
        await rm(join(folder, 'cache'), { recursive: true, force: true })
        await rm(made, { force: true })
        return run('go', ['build', '-o', made, '.'], join(folder, 'work'), {
          ...cleanEnv(folder),
          GOCACHE: join(folder, 'unused'),
          GOTOOLCHAIN: 'local',
          GOCACHEPROG: `${program} -cache-server=${url} -cache-dir=${join(folder, 'cache')}`,
        })
      },
    }
  },
}
