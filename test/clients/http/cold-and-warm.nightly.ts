import { readFile } from 'node:fs/promises'
import t from 'tap'
import { serveTool } from './served.js'
import { gradle } from './tools/gradle.js'
import { maven } from './tools/maven.js'
import { moon } from './tools/moon.js'
import { nx } from './tools/nx.js'
import { turbo } from './tools/turbo.js'

// For changes in: src/http, src/server/http, src/service/http-cache, test/clients/http

t.setTimeout(900_000)

for (const tool of [gradle, maven, moon, nx, turbo]) {
  t.test(`${tool.name}: what one machine built, another takes from the server`, { skip: tool.skip }, async (t) => {
    const { folder, url, results, server } = await serveTool(t, tool.kind, tool.mount)
    const { build, made, saysRemote } = await tool.prepare(t, folder)
    const cold = await build(url)
    t.equal(cold.code, 0) || t.comment(cold.output, server.log())
    if (saysRemote !== undefined) t.notMatch(cold.output, saysRemote)
    const bytes = await readFile(made)
    const { stored, hit } = await results()
    t.ok(stored > 0 && hit === 0, `${stored} stored, ${hit} hits`) || t.comment(cold.output, server.log())
    const warm = await build(url)
    t.equal(warm.code, 0) || t.comment(warm.output, server.log())
    if (saysRemote !== undefined) t.match(warm.output, saysRemote) || t.comment(server.log())
    t.same(await readFile(made), bytes)
    t.ok((await results()).hit > 0) || t.comment(warm.output, server.log())
  })
}
