import { join } from 'node:path'
import { cleanEnv, run } from '../../process.js'
import { git, programOf, SCRIPT, type Tool, without, write } from './tool.js'

const { program, skip } = programOf('REMEXEC_TEST_TURBO')

export const turbo: Tool = {
  ...{ name: 'Turborepo', kind: 'turborepo', skip },
  prepare: async (_, folder) => {
    const work = join(folder, 'work')
    const lock = { name: 'top', lockfileVersion: 3, packages: { '': { name: 'top', workspaces: ['app'] } } }
    await write(work, {
      'package.json': { name: 'top', packageManager: 'npm@10.8.2', workspaces: ['app'] },
      'package-lock.json': lock,
      'turbo.json': { tasks: { build: { outputs: ['dist/**'] } } },
      'app/package.json': { name: 'app', scripts: { build: SCRIPT } },
      'app/src.txt': 'hello',
      // tap follows the processes that npm starts.
      '.gitignore': '.tap\n.turbo\ndist\nnode_modules\n',
    })
    await git(work, folder)
    const env = { ...cleanEnv(folder), TURBO_TELEMETRY_DISABLED: '1' }
    const forget = without(work, '.turbo', 'node_modules', 'app/.turbo', 'app/dist')
    // It would look for a turbo in the workspace.
    const args = ['--skip-infer']
    return {
      ...{ cwd: work, env, forget, command: { name: 'turbo', program, args } },
      made: join(work, 'app/dist/out.txt'),
      build: async (url, settings = {}) => {
        await forget()
        return run(program, [...args, 'run', 'build'], work, {
          ...env,
          TURBO_API: url,
          TURBO_TOKEN: 'token',
          TURBO_TEAM: 'team',
          ...settings,
        })
      },
      saysRemote: /1 cached, 1 total/,
    }
  },
}
