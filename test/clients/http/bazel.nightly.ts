import { mkdir, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import t from 'tap'
import { cleanEnv, run } from '../process.js'
import { serveTool } from './served.js'

// For changes in: src/http, src/server/http, src/service/http-cache, test/clients/http

t.setTimeout(900_000)

const program = process.env['REMEXEC_TEST_BAZEL_2']
const skip = program === undefined && 'needs Bazel: its path in REMEXEC_TEST_BAZEL_2'

t.test('Bazel over HTTP: a build from nothing is remote, and so is one over gRPC', { skip }, async (t) => {
  const { folder, server, url, results } = await serveTool(t, 'bazel')
  const work = join(folder, 'work')
  await mkdir(work)
  await writeFile(join(work, 'WORKSPACE'), '')
  const rule = (name: string) => `genrule(name = "${name}", outs = ["${name}.txt"], cmd = "echo ${name} > $@")\n`
  await writeFile(join(work, 'BUILD'), rule('one') + rule('two'))
  const build = async (cache: string, base: string) => {
    const startup = [`--output_user_root=${join(folder, base)}`, '--nosystem_rc', '--nohome_rc']
    const bazel = (...args: string[]) => run(program as string, [...startup, ...args], work, cleanEnv(folder))
    const outcome = await bazel('build', `--remote_cache=${cache}`, '--remote_instance_name=main', '//:one', '//:two')
    await bazel('shutdown')
    return outcome
  }
  const cold = await build(url, 'cold')
  t.equal(cold.code, 0) || t.comment(cold.output, server.log())
  t.ok((await results()).stored > 4) || t.comment(cold.output, server.log())
  const warm = await build(url, 'warm')
  t.match(warm.output, /2 remote cache hit/) || t.comment(warm.output, server.log())
  t.match(await results(), { stored: 0, miss: 0 })
  const overGrpc = await build(server.uri, 'grpc')
  t.match(overGrpc.output, /2 remote cache hit/) || t.comment(overGrpc.output, server.log())
})
