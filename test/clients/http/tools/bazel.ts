import { join } from 'node:path'
import { cleanEnv, run } from '../../process.js'
import { programOf, type Tool, without, write } from './tool.js'

const { program, skip } = programOf('REMEXEC_TEST_BAZEL_2')

/** Its server stays, and forgets everything before each build. */
export const bazel: Tool = {
  ...{ name: 'Bazel', kind: 'bazel', skip },
  prepare: async (t, folder) => {
    const work = join(folder, 'work')
    const rule = 'genrule(name = "one", outs = ["one.txt"], cmd = "echo one > $@")\n'
    await write(work, { WORKSPACE: '', BUILD: rule })
    const startup = [`--output_user_root=${join(folder, 'root')}`, '--nosystem_rc', '--nohome_rc']
    const ask = (...args: string[]) => run(program, [...startup, ...args], work, cleanEnv(folder))
    t.teardown(() => ask('shutdown'))
    const remove = without(work, 'bazel-bin/one.txt')
    const forget = async () => {
      await ask('clean')
      await remove()
    }
    return {
      ...{ cwd: work, env: cleanEnv(folder), forget, command: { name: 'bazel', program, args: startup } },
      made: join(work, 'bazel-bin/one.txt'),
      build: async (url) => {
        await forget()
        return ask('build', `--remote_cache=${url}`, '--remote_timeout=5', '//:one')
      },
      saysRemote: /1 remote cache hit/,
    }
  },
}
