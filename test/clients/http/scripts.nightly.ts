import { cp, mkdir, rm, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import t from 'tap'
import { cleanEnv, run } from '../process.js'
import { copyFixture } from '../scratch.js'
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

t.test('nx: a run with an empty cache is remote', { skip: needs('REMEXEC_TEST_NX') }, async (t) => {
  const { folder, url, results, server } = await serveTool(t, 'nx', { overwrite: 'first' })
  const work = join(folder, 'work')
  const nx = process.env['REMEXEC_TEST_NX'] as string
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
          options: { command: BUILD, cwd: 'app' },
        },
      },
    },
    'app/src.txt': 'hello',
    '.gitignore': '.nx\ndist\nnode_modules\n',
  })
  await mkdir(join(work, 'node_modules'))
  // nx loads itself from the workspace.
  await cp(join(nx, '../..'), join(work, 'node_modules'), { recursive: true, verbatimSymlinks: true })
  await git(work, folder)
  const env = {
    ...cleanEnv(folder),
    NX_SELF_HOSTED_REMOTE_CACHE_SERVER: url,
    NX_SELF_HOSTED_REMOTE_CACHE_ACCESS_TOKEN: 'token',
    NX_DAEMON: 'false',
    NX_CACHE_DIRECTORY: join(folder, 'nx-cache'),
    NX_WORKSPACE_DATA_DIRECTORY: join(folder, 'nx-data'),
    NX_TUI: 'false',
  }
  const build = () => run(join(work, 'node_modules/.bin/nx'), ['run', 'app:build', '--outputStyle=static'], work, env)
  const cold = await build()
  t.equal(cold.code, 0) || t.comment(cold.output, server.log())
  t.match(await results(), { stored: 1 }) || t.comment(cold.output, server.log())
  for (const path of ['nx-cache', 'nx-data', 'work/app/dist'])
    await rm(join(folder, path), { recursive: true, force: true })
  const warm = await build()
  t.equal(warm.code, 0) || t.comment(warm.output, server.log())
  t.match(warm.output, /remote cache/)
  t.match(await results(), { hit: 1, stored: 0 })
})

t.test('moon: a run with an empty cache is remote, over HTTP', { skip: needs('REMEXEC_TEST_MOON') }, async (t) => {
  const { folder, url, results, server } = await serveTool(t, 'bazel')
  const work = await copyFixture('moon', folder)
  await git(work, folder)
  const env = {
    ...cleanEnv(folder),
    MOON_REMOTE_HOST: url,
    MOON_REMOTE_API: 'http',
    MOON_REMOTE_CACHE_INSTANCE_NAME: 'main',
    REPORT_VARIANT: 'http',
  }
  const report = () => run(process.env['REMEXEC_TEST_MOON'] as string, ['run', 'app:report'], work, env)
  const cold = await report()
  t.equal(cold.code, 0) || t.comment(cold.output, server.log())
  t.ok((await results()).stored > 1) || t.comment(cold.output, server.log())
  await rm(join(work, '.moon/cache'), { recursive: true })
  await rm(join(work, 'app/out'), { recursive: true })
  const warm = await report()
  t.equal(warm.code, 0) || t.comment(warm.output, server.log())
  t.match(warm.output, /cached from remote/) || t.comment(server.log())
  t.match(await results(), { stored: 0 })
})
