/** The way back to the release before: 0.1.0, built from the history of this repository, opens a folder that this release wrote. */
import { execFileSync, spawnSync } from 'node:child_process'
import { mkdirSync, symlinkSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import t, { type Test } from 'tap'
import { program, root, serve, start } from '../../../cli/program.js'
import { TestClient } from '../../../server/client.js'
import { AC, blobOf, CAS, wire } from '../../../service/harness.js'
import { configOfFolders, KEPT_ACTION, KEPT_BLOBS, KEPT_PATH } from './old-folders.js'

// For changes in: src/store/kinds/filesystem, src/files/folder-format.ts

t.setTimeout(600_000)

/** The last commit of 0.1.0. */
const COMMIT = '04155350'
const hasHistory = spawnSync('git', ['cat-file', '-e', `${COMMIT}^{commit}`], { cwd: root }).status === 0

/** Its program, run from sources: it has no build that other folders could be told of. */
const older = (t: Test): string => {
  const folder = t.testdir()
  const archive = join(folder, 'archive.tar')
  execFileSync('git', ['archive', '-o', archive, COMMIT], { cwd: root })
  execFileSync('tar', ['-xf', archive, '-C', folder])
  execFileSync('npm', ['ci', '--omit=dev', '--ignore-scripts', '--no-audit', '--no-fund'], {
    cwd: folder,
    stdio: 'ignore',
  })
  for (const name of ['tsx', 'esbuild', '@esbuild', 'get-tsconfig', 'resolve-pkg-maps'])
    symlinkSync(join(root, 'node_modules', name), join(folder, 'node_modules', name))
  return folder
}

t.test(
  '0.1.0 serves what it wrote itself, and misses what this release added',
  {
    skip: hasHistory ? false : `needs commit ${COMMIT} of the history`,
  },
  async (t) => {
    const code = older(t)
    const folder = join(code, 'data')
    mkdirSync(folder)
    execFileSync('tar', ['-xzf', join(root, 'fixtures/folders/0.1.0.tar.gz'), '-C', folder])
    const config = join(folder, 'config.json')
    writeFileSync(config, configOfFolders(folder))
    const added = blobOf(Buffer.from('of this release'))

    const now = serve(t, config, folder)
    const [, address = ''] = await now.hears(/serving grpc:\/\/(\S+) server=public/)
    const client = new TestClient(address)
    await client.unary(`${CAS}/BatchUpdateBlobs`, { requests: [{ digest: wire(added.digest), data: added.bytes }] })
      .response
    client.close()
    now.child.kill('SIGTERM')
    await now.ended

    const before = start(t, [process.execPath, '--import', 'tsx', 'src/cli.ts', config], { cwd: code })
    const [, again = ''] = await before.hears(/serving grpc:\/\/(127\.0\.0\.1:\d+)/)
    const old = new TestClient(again)
    t.teardown(() => old.close())
    const blobDigests = [...KEPT_BLOBS, added].map(({ digest }) => wire(digest))
    const { missingBlobDigests } = (await old.unary(`${CAS}/FindMissingBlobs`, { blobDigests }).response) as {
      missingBlobDigests: readonly object[]
    }
    t.match(missingBlobDigests, [wire(added.digest)])
    t.equal(missingBlobDigests.length, 1)
    const result = await old.unary(`${AC}/GetActionResult`, { actionDigest: wire(KEPT_ACTION) }).response
    t.match(result, { outputFiles: [{ path: KEPT_PATH }] })
    before.child.kill('SIGTERM')
    await before.ended
    t.match(spawnSync(process.execPath, [program, 'check', join(folder, 'CAS/content')], { encoding: 'utf8' }), {
      status: 0,
    })
  },
)
