import { readdir } from 'node:fs/promises'
import { join } from 'node:path'
import t from 'tap'
import { conformance } from '../conformance/program.js'
import { Bazel } from './bazel.js'
import { run } from './process.js'
import { findClient } from './recipe/recipe.js'
import { copyFixture, scratchFolder } from './scratch.js'
import { startServer } from './server.js'

// For changes in: package.json, src/cli.ts, src/process, src/stream/compression, src/worker/command

// The server on the releases of Node that package.json allows beside the one that runs the tests.

t.setTimeout(900_000)

const releases = { 22: 'REMEXEC_TEST_NODE_22', 24: 'REMEXEC_TEST_NODE_24' } as const
const bazelProgram = await findClient('REMEXEC_TEST_BAZEL_4', 'bazel')

for (const [release, variable] of Object.entries(releases)) {
  const node = process.env[variable]
  const skip = node === undefined && `needs a Node ${release}, named in ${variable}`
  t.test(`on Node ${release}`, { skip }, async (t) => {
    const version = await run(node ?? '', ['--version'], '/', {})
    t.match(version.output, new RegExp(`^v${release}\\.`), `${variable} is that release`)
    const folder = await scratchFolder(t)
    const server = await startServer(t, join(folder, 'data'), { ...(node && { node }), env: { HOME: folder } })

    const noBazel = bazelProgram === undefined && 'needs Bazel 4.2: apt-get install bazel-bootstrap'
    await t.test('Bazel builds and tests the fixture remotely, then from the cache', { skip: noBazel }, async (t) => {
      const bazel = new Bazel(bazelProgram ?? '', folder, await copyFixture('workspace', folder))
      t.teardown(() => bazel.shutdown())
      for (const runner of ['remote', 'remote cache hit']) {
        const invocation = await bazel.run('test', `--remote_executor=${server.uri}`, '//...')
        t.equal(invocation.code, 0) || t.comment(invocation.output, server.log())
        t.same(Object.keys(invocation.ran), [runner])
        await bazel.clean()
      }
    })

    await t.test('the conformance suite finds no must row that fails', async (t) => {
      const { code, stdout } = await conformance(server.uri, '--instance-name', 'main', '--patience', '4')
      t.equal(code, 0) || t.comment(stdout)
    })

    t.equal(await server.stop(), 143, 'SIGTERM is a clean end')
    const kept = await readdir(join(folder, '.cache/remexec-program/code'), { recursive: true })
    t.ok(kept.length > 50, `${kept.length} files of compiled code are kept for the next start`)
  })
}
