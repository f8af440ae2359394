import { join } from 'node:path'
import { cleanEnv, run } from '../../process.js'
import { copyFixture } from '../../scratch.js'
import { BRIEF_JVM, programOf, type Tool, without } from './tool.js'

const { program, skip } = programOf('REMEXEC_TEST_MAVEN')

/** Beside the program is a repository with all that the build needs. */
export const maven: Tool = {
  ...{ name: 'Maven', kind: 'maven', skip },
  prepare: async (_, folder) => {
    const work = await copyFixture('maven', folder)
    const known = join(program, '../../../repository')
    const options = (settings: Readonly<Record<string, string>>): readonly string[] =>
      Object.entries(settings).map(([name, value]) => `-D${name}=${value}`)
    const here = options({
      'maven.repo.local': join(folder, 'repository'),
      'maven.repo.local.tail': known,
      'maven.repo.local.tail.ignoreAvailability': 'true',
      'maven.build.cache.location': join(folder, 'local'),
    })
    const env = { ...cleanEnv(folder), JAVA_HOME: process.env['JAVA_HOME'], MAVEN_OPTS: BRIEF_JVM }
    const args = ['-B', '-s', 'settings.xml', ...here]
    const forget = without(folder, 'local', 'maven/target')
    return {
      ...{ cwd: work, env, forget, command: { name: 'mvn', program, args } },
      made: join(work, 'target/demo-1.0.jar'),
      build: async (url) => {
        await forget()
        const remote = options({
          'maven.build.cache.remote.enabled': 'true',
          'maven.build.cache.remote.save.enabled': 'true',
          'maven.build.cache.remote.url': url,
          'maven.build.cache.remote.server.id': 'cache',
        })
        return run(program, [...args, ...remote, 'verify'], work, env)
      },
      saysRemote: /Found cached build, restoring .* from cache/,
    }
  },
}
