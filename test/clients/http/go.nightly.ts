import { mkdir, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import t from 'tap'
import { cleanEnv, run } from '../process.js'
import { serveTool } from './served.js'

// For changes in: src/http, src/server/http, src/service/http-cache, test/clients/http

t.setTimeout(900_000)

const helper = process.env['REMEXEC_TEST_GO_CACHER']
const skip = helper === undefined && 'needs the helper of go-tool-cache: its path in REMEXEC_TEST_GO_CACHER'

t.test('go build with an empty local cache takes the standard library from the server', { skip }, async (t) => {
  const { folder, url, results, server } = await serveTool(t, 'go')
  const work = join(folder, 'work')
  await mkdir(work)
  await writeFile(join(work, 'go.mod'), 'module hello\n\ngo 1.24\n')
  await writeFile(join(work, 'main.go'), 'package main\n\nfunc main() { println("hello") }\n')
  const build = (name: string) =>
    run('go', ['build', '-o', join(folder, 'hello'), '.'], work, {
      ...cleanEnv(join(folder, name)),
      GOCACHE: join(folder, name, 'unused'),
      GOTOOLCHAIN: 'local',
      GOCACHEPROG: `${helper} -cache-server=${url} -cache-dir=${join(folder, name)}`,
    })
  const cold = await build('cold')
  t.equal(cold.code, 0) || t.comment(cold.output, server.log())
  t.ok((await results()).stored > 20) || t.comment(server.log())
  const warm = await build('warm')
  t.equal(warm.code, 0) || t.comment(warm.output, server.log())
  const { hit, miss } = await results()
  t.ok(hit > 20 && miss <= 1, `${hit} hits, ${miss} misses`)
  t.match((await run(join(folder, 'hello'), [], folder, cleanEnv(folder))).output, /hello/)
})
