/** Bazel reaches a server by its unix socket: `--remote_proxy=unix:/path`. */
import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import JSON5 from 'json5'
import t from 'tap'
import { serve } from '../cli/program.js'
import { Bazel, bazelRelease } from './bazel.js'
import { copyFixture, root, scratchFolder } from './scratch.js'

// For changes in: src/server/unix-socket.ts, src/server/sockets.ts, src/server/listener.ts

t.setTimeout(900_000)

// Releases of Bazel's own makers connect to unix sockets. Debian's say "Creating event loop groups is unsupported on this platform".
const program = process.env['REMEXEC_TEST_BAZEL_2'] ?? 'bazel-2.1.0'
if ((await bazelRelease(program)) === undefined) {
  t.plan(0, `needs ${program}, or another named in REMEXEC_TEST_BAZEL_2`)
  process.exit()
}

t.test('a build by a unix socket, and the same build again from the cache', async (t) => {
  const folder = await scratchFolder(t)
  const sockets = await mkdtemp(join(tmpdir(), 'remexec-'))
  t.teardown(() => rm(sockets, { recursive: true }))
  const socket = join(sockets, 'socket')
  const config = JSON5.parse(await readFile(join(root, 'deploy/recipes/machine/remexec.json5'), 'utf8'))
  config.servers[0].listener.http.socket_address = `unix:${socket}`
  const file = join(folder, 'config.json')
  await writeFile(file, JSON.stringify(config))
  const server = serve(t, file, join(folder, 'data'))
  await server.hears(/serving unix:/)
  await server.hears(/connected to the scheduler/)

  const bazel = new Bazel(program, folder, await copyFixture('workspace', folder))
  t.teardown(() => bazel.shutdown())
  const build = () =>
    bazel.run(
      'build',
      '--remote_executor=grpc://localhost',
      `--remote_proxy=unix:${socket}`,
      '--remote_retries=0',
      '--',
      '//plain/...',
      '//tree/...',
    )
  const first = await build()
  t.equal(first.code, 0) || t.comment(first.output)
  t.ok((first.ran['remote'] ?? 0) > 0, JSON.stringify(first.ran))
  await bazel.clean()
  const second = await build()
  t.equal(second.code, 0) || t.comment(second.output)
  t.ok((second.ran['remote cache hit'] ?? 0) > 0, JSON.stringify(second.ran))
  t.notOk(second.ran['remote'])
})
