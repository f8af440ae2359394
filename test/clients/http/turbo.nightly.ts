import { mkdir, rm, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import t from 'tap'
import { cleanEnv, run } from '../process.js'
import { serveTool } from './served.js'

// For changes in: src/http, src/server/http, src/service/http-cache, test/clients/http

t.setTimeout(180_000)

const write = async (folder: string, files: Readonly<Record<string, unknown>>): Promise<void> => {
  for (const [name, content] of Object.entries(files)) {
    await mkdir(join(folder, name, '..'), { recursive: true })
    await writeFile(join(folder, name), typeof content === 'string' ? content : JSON.stringify(content))
  }
}

const git = async (folder: string, home: string): Promise<void> => {
  const identity = ['-c', 'user.name=remexec', '-c', 'user.email=remexec@localhost']
  for (const args of [
    ['init', '--quiet', '--initial-branch=main'],
    ['add', '.'],
    ['commit', '--quiet', '--message=fixture'],
  ])
    await run('git', [...identity, ...args], folder, cleanEnv(home))
}

const BUILD = 'mkdir -p dist && cat src.txt > dist/out.txt && echo made'
const needs = (variable: string) => process.env[variable] === undefined && `needs a path in ${variable}`

t.test('turbo: a run with an empty cache is remote', { skip: needs('REMEXEC_TEST_TURBO') }, async (t) => {
  const { folder, url, results, server } = await serveTool(t, 'turborepo')
  const work = join(folder, 'work')
  await write(work, {
    'package.json': { name: 'top', packageManager: 'npm@10.8.2', workspaces: ['app'] },
    'package-lock.json': { name: 'top', lockfileVersion: 3, packages: { '': { name: 'top', workspaces: ['app'] } } },
    'turbo.json': { tasks: { build: { outputs: ['dist/**'] } } },
    'app/package.json': { name: 'app', scripts: { build: BUILD } },
    'app/src.txt': 'hello',
    // tap follows the processes that npm starts.
    '.gitignore': '.tap\n.turbo\ndist\nnode_modules\n',
  })
  await git(work, folder)
  const env = {
    ...cleanEnv(folder),
    TURBO_API: url,
    TURBO_TOKEN: 'token',
    TURBO_TEAM: 'team',
    TURBO_TELEMETRY_DISABLED: '1',
  }
  const turbo = () => run(process.env['REMEXEC_TEST_TURBO'] as string, ['run', 'build', '--skip-infer'], work, env)
  const forget = async () => {
    for (const path of ['.turbo', 'node_modules', 'app/.turbo', 'app/dist'])
      await rm(join(work, path), { recursive: true, force: true })
  }
  const cold = await turbo()
  t.match(cold.output, /Remote caching enabled[\s\S]*cache miss/) || t.comment(cold.output, server.log())
  t.ok((await results()).stored >= 1)
  await forget()
  const warm = await turbo()
  t.match(warm.output, /1 cached, 1 total/) || t.comment(warm.output, server.log())
  t.match(await results(), { hit: 1, stored: 0 })
})
