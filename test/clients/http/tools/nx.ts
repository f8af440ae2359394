import { cp, mkdir } from 'node:fs/promises'
import { join } from 'node:path'
import { cleanEnv, run } from '../../process.js'
import { git, programOf, SCRIPT, type Tool, without, write } from './tool.js'

const { program, skip } = programOf('REMEXEC_TEST_NX')

export const nx: Tool = {
  ...{ name: 'Nx', kind: 'nx', mount: { overwrite: 'first' }, skip },
  prepare: async (_, folder) => {
    const work = join(folder, 'work')
    await write(work, {
      'package.json': { name: 'top', version: '0.0.0' },
      'nx.json': { defaultBase: 'main', analytics: false, tui: { enabled: false } },
      'app/project.json': {
        name: 'app',
        targets: {
          build: {
            executor: 'nx:run-commands',
            cache: true,
            outputs: ['{projectRoot}/dist'],
            options: { command: SCRIPT, cwd: 'app' },
          },
        },
      },
      'app/src.txt': 'hello',
      '.gitignore': '.nx\ndist\nnode_modules\n',
    })
    await mkdir(join(work, 'node_modules'))
    // nx loads itself from the workspace.
    await cp(join(program, '../..'), join(work, 'node_modules'), { recursive: true, verbatimSymlinks: true })
    await git(work, folder)
    const env = {
      ...cleanEnv(folder),
      NX_SELF_HOSTED_REMOTE_CACHE_ACCESS_TOKEN: 'token',
      NX_DAEMON: 'false',
      NX_CACHE_DIRECTORY: join(folder, 'nx-cache'),
      NX_WORKSPACE_DATA_DIRECTORY: join(folder, 'nx-data'),
      NX_TUI: 'false',
    }
    const forget = without(folder, 'nx-cache', 'nx-data', 'work/app/dist')
    return {
      ...{ cwd: work, env, forget, command: { name: 'nx', program: join(work, 'node_modules/.bin/nx') } },
      made: join(work, 'app/dist/out.txt'),
      build: async (url) => {
        await forget()
        const args = ['run', 'app:build', '--outputStyle=static']
        return run(join(work, 'node_modules/.bin/nx'), args, work, {
          ...env,
          NX_SELF_HOSTED_REMOTE_CACHE_SERVER: url,
        })
      },
      saysRemote: /remote cache/,
    }
  },
}
