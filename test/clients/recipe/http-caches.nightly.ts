import { appendFile, readFile, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import t from 'tap'
import { bazel } from '../http/tools/bazel.js'
import { ccache } from '../http/tools/ccache.js'
import { go } from '../http/tools/go.js'
import { gradle } from '../http/tools/gradle.js'
import { maven } from '../http/tools/maven.js'
import { moon } from '../http/tools/moon.js'
import { nx } from '../http/tools/nx.js'
import { sccache } from '../http/tools/sccache.js'
import type { Tool } from '../http/tools/tool.js'
import { turbo } from '../http/tools/turbo.js'
import { run } from '../process.js'
import { root, scratchFolder } from '../scratch.js'
import { startServer } from '../server.js'
import { named, recipeOf } from './recipe.js'

// For changes in: docs/http-caches.md

t.setTimeout(900_000)

const PAGE = 'http-caches.md'

/** The heading of each recipe, and the mount that it uses; none for one that speaks gRPC. */
const RECIPES: Readonly<Record<string, { readonly tool: Tool; readonly mount?: string }>> = {
  'Bazel over HTTP': { tool: bazel, mount: '/' },
  'moon over HTTP': { tool: moon, mount: '/' },
  ccache: { tool: ccache, mount: '/ccache' },
  sccache: { tool: sccache, mount: '/sccache' },
  Turborepo: { tool: turbo, mount: '/turbo' },
  Nx: { tool: nx, mount: '/nx' },
  Gradle: { tool: gradle, mount: '/gradle' },
  Maven: { tool: maven, mount: '/maven' },
  Go: { tool: go },
  'Go by another helper': { tool: go, mount: '/go' },
}

t.test('every recipe of the page is run here', async (t) => {
  const [, recipes = ''] = (await readFile(join(root, 'docs', PAGE), 'utf8')).split('\n## Recipes\n')
  const [own = ''] = recipes.split('\n## ')
  t.same([...own.matchAll(/^### (.+)$/gm)].map(([, name]) => name).sort(), Object.keys(RECIPES).sort())
})

/** The configuration of the page, with stores and a place to listen. */
const configIn = async (folder: string): Promise<string> => {
  const page = await readFile(join(root, 'docs', PAGE), 'utf8')
  const [, services = ''] = /```json5\n(services: .*?)```/s.exec(page) ?? []
  const path = join(folder, 'remexec.json5')
  await writeFile(
    path,
    `{
      stores: { CAS: { memory: { eviction_policy: { max_bytes: '1gb' } } }, AC: { memory: {} } },
      servers: { main: { listener: { http: { socket_address: '127.0.0.1:0' } }, ${services.replace('services: {', 'services: { metrics: {},')} } },
    }`,
  )
  return path
}

for (const [name, { tool, mount }] of Object.entries(RECIPES)) {
  t.test(`${name}: the recipe stores, then takes from the server`, { skip: tool.skip }, async (t) => {
    const folder = await scratchFolder(t)
    const server = await startServer(t, join(folder, 'data'), { config: await configIn(folder) })
    const { cwd, env, command, forget } = await tool.prepare(t, folder)
    await named(folder, 'remexec', process.execPath, [join(root, 'dist/cli.js')])
    const bin = await named(folder, command.name, command.program, command.args)
    let text = 'gradle --build-cache build'
    if (tool === gradle) await appendFile(join(cwd, 'settings.gradle'), await recipeOf(name, 'groovy', server, PAGE))
    else text = await recipeOf(name, 'sh', server, PAGE)
    const metrics = async (): Promise<string> => (await fetch(`${server.uri.replace('grpc', 'http')}/metrics`)).text()
    const count = async (result: string): Promise<number> => {
      const lines = (await metrics()).split('\n').filter((line) => line.startsWith('svc_http_cache_requests_total{'))
      const own = lines.find((line) => line.includes(`path="${mount}"`) && line.includes(`result="${result}"`))
      return Number(own?.split(' ').at(-1))
    }
    for (const isWarm of [false, true]) {
      await forget()
      const { code, output } = await run('bash', ['-euc', text], cwd, { ...env, PATH: `${bin}:${env['PATH']}` })
      t.equal(code, 0) || t.comment(output, server.log())
      if (mount === undefined) continue
      const [stored, hits] = [await count('stored'), await count('hit')]
      t.ok(stored > 0 && (isWarm ? hits > 0 : hits === 0), `${stored} stored, ${hits} hits`) || t.comment(output)
    }
    await forget()
  })
}
