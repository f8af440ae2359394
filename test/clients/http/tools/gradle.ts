import { join } from 'node:path'
import { cleanEnv, run } from '../../process.js'
import { BRIEF_JVM, programOf, type Tool, without, write } from './tool.js'

const { program, skip } = programOf('REMEXEC_TEST_GRADLE')

export const gradle: Tool = {
  ...{ name: 'Gradle', kind: 'gradle', skip },
  prepare: async (_, folder) => {
    const work = join(folder, 'work')
    const remote = (url: string): string => `rootProject.name = 'demo'
buildCache {
  local { enabled = false }
  remote(HttpBuildCache) { url = '${url}'; push = true; credentials { username = 'ann'; password = 'token' } }
}
`
    await write(work, {
      'build.gradle': "apply plugin: 'java'\n",
      'src/main/java/demo/Demo.java':
        'package demo;\npublic class Demo { public static int answer() { return 42; } }\n',
    })
    const env = { ...cleanEnv(folder), GRADLE_USER_HOME: join(folder, 'home'), GRADLE_OPTS: BRIEF_JVM }
    const forget = without(folder, 'work/build', 'work/.gradle', 'home/caches/build-cache-1')
    return {
      ...{ cwd: work, env, forget, command: { name: 'gradle', program, args: ['--no-daemon', '--console=plain'] } },
      made: join(work, 'build/classes/java/main/demo/Demo.class'),
      build: async (url) => {
        await forget()
        await write(work, { 'settings.gradle': remote(`${url}/`) })
        // `--offline` would turn the remote cache off.
        const args = ['--build-cache', '--no-daemon', '--console=plain', 'compileJava']
        return run(program, args, work, env)
      },
      saysRemote: /compileJava FROM-CACHE/,
    }
  },
}
