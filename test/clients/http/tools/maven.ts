import { rm } from 'node:fs/promises'
import { join } from 'node:path'
import { cleanEnv, run } from '../../process.js'
import { copyFixture } from '../../scratch.js'
import { programOf, type Tool } from './tool.js'

const { program, skip } = programOf('REMEXEC_TEST_MAVEN')

/** Beside the program is a repository with all that the build needs. */
export const maven: Tool = {
  ...{ name: 'Maven', kind: 'maven', skip },
  prepare: async (_, folder) => {
    const work = await copyFixture('maven', folder)
    const known = join(program, '../../../repository')
    return {
      made: join(work, 'target/demo-1.0.jar'),
      build: async (url) => {
        for (const path of ['local', 'maven/target']) await rm(join(folder, path), { recursive: true, force: true })
        const settings = {
          'maven.repo.local': join(folder, 'repository'),
          'maven.repo.local.tail': known,
          'maven.repo.local.tail.ignoreAvailability': 'true',
          'maven.build.cache.location': join(folder, 'local'),
          'maven.build.cache.remote.enabled': 'true',
          'maven.build.cache.remote.save.enabled': 'true',
          'maven.build.cache.remote.url': url,
          'maven.build.cache.remote.server.id': 'cache',
        }
        const options = Object.entries(settings).map(([name, value]) => `-D${name}=${value}`)
        return run(program, ['-B', '-s', 'settings.xml', ...options, 'verify'], work, {
          ...cleanEnv(folder),
          JAVA_HOME: process.env['JAVA_HOME'],
        })
      },
      saysRemote: /Found cached build, restoring .* from cache/,
    }
  },
}
