import { join } from 'node:path'
import { cleanEnv, run } from '../../process.js'
import { copyFixture } from '../../scratch.js'
import { git, programOf, type Tool, without } from './tool.js'

const { program, skip } = programOf('REMEXEC_TEST_MOON')

export const moon: Tool = {
  ...{ name: 'moon', kind: 'bazel', skip },
  prepare: async (_, folder) => {
    const work = await copyFixture('moon', folder)
    await git(work, folder)
    const env = { ...cleanEnv(folder), REPORT_VARIANT: 'http' }
    const forget = without(work, '.moon/cache', 'app/out')
    return {
      ...{ cwd: work, env, forget, command: { name: 'moon', program } },
      made: join(work, 'app/out/report.txt'),
      build: async (url) => {
        await forget()
        return run(program, ['run', 'app:report'], work, {
          ...env,
          MOON_REMOTE_HOST: url,
          MOON_REMOTE_API: 'http',
          MOON_REMOTE_CACHE_INSTANCE_NAME: 'main',
        })
      },
      saysRemote: /cached from remote/,
    }
  },
}
