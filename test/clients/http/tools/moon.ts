import { rm } from 'node:fs/promises'
import { join } from 'node:path'
import { cleanEnv, run } from '../../process.js'
import { copyFixture } from '../../scratch.js'
import { git, programOf, type Tool } from './tool.js'

const { program, skip } = programOf('REMEXEC_TEST_MOON')

export const moon: Tool = {
  ...{ name: 'moon', kind: 'bazel', skip },
  prepare: async (_, folder) => {
    const work = await copyFixture('moon', folder)
    await git(work, folder)
    return {
      made: join(work, 'app/out/report.txt'),
      build: async (url) => {
        for (const path of ['.moon/cache', 'app/out']) await rm(join(work, path), { recursive: true, force: true })
        return run(program, ['run', 'app:report'], work, {
          ...cleanEnv(folder),
          MOON_REMOTE_HOST: url,
          MOON_REMOTE_API: 'http',
          MOON_REMOTE_CACHE_INSTANCE_NAME: 'main',
          REPORT_VARIANT: 'http',
        })
      },
      saysRemote: /cached from remote/,
    }
  },
}
