/** Folders of earlier releases are served, and those of later ones are left alone. */
import { execFileSync, spawnSync } from 'node:child_process'
import { mkdirSync, readdirSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import t, { type Test } from 'tap'
import { program, root, serve } from '../../../cli/program.js'
import { TestClient } from '../../../server/client.js'
import { AC, CAS, wire } from '../../../service/harness.js'
import { configOfFolders, KEPT_ACTION, KEPT_BLOBS, KEPT_PATH } from './old-folders.js'

const FOLDERS = join(root, 'fixtures/folders')
const { version } = JSON.parse(readFileSync(join(root, 'package.json'), 'utf8'))

const configIn = (folder: string): string => {
  const path = join(folder, 'config.json')
  writeFileSync(path, configOfFolders(folder))
  return path
}

const started = async (t: Test, folder: string) => {
  const server = serve(t, configIn(folder), folder)
  const [, address = ''] = await server.hears(/serving grpc:\/\/(\S+) server=public/)
  const client = new TestClient(address)
  t.teardown(() => client.close())
  const stop = async (): Promise<void> => {
    server.child.kill('SIGTERM')
    await server.ended
  }
  return { client, stop, said: () => server.said() }
}

for (const archive of readdirSync(FOLDERS).filter((name) => name.endsWith('.tar.gz'))) {
  t.test(`what ${archive} has is served, also after a restart`, async (t) => {
    const folder = t.testdir()
    execFileSync('tar', ['-xzf', join(FOLDERS, archive), '-C', folder])
    for (const time of ['after the update', 'after a restart']) {
      const { client, stop, said } = await started(t, folder)
      const read = client.unary(`${CAS}/BatchReadBlobs`, { digests: KEPT_BLOBS.map(({ digest }) => wire(digest)) })
      const { responses } = (await read.response) as { responses: { data: Buffer }[] }
      for (const [at, { bytes }] of KEPT_BLOBS.entries())
        t.ok(bytes.equals(responses[at]?.data ?? Buffer.alloc(0)), `${time}: a blob of ${bytes.length} bytes`)
      const result = await client.unary(`${AC}/GetActionResult`, { actionDigest: wire(KEPT_ACTION) }).response
      t.match(result, { outputFiles: [{ path: KEPT_PATH }] }, time)
      await stop()
      t.notMatch(said(), /is damaged|are lost/, time)
    }
    for (const name of ['CAS', 'AC']) {
      const note = JSON.parse(readFileSync(join(folder, name, 'content/format.json'), 'utf8'))
      t.same(note, { format: 2, remexec: version })
      t.match(run('check', join(folder, name, 'content')), { status: 0 })
    }
  })
}

const run = (...args: readonly string[]) => {
  const { status, stdout, stderr } = spawnSync(process.execPath, [program, ...args], { encoding: 'utf8' })
  return { status, output: `${stdout}${stderr}` }
}

const LATER = JSON.stringify({ format: 99, remexec: '7.0.0' })

t.test('a folder that a later release wrote is not opened, and it is said which one can', async (t) => {
  const folder = t.testdir()
  execFileSync('tar', ['-xzf', join(FOLDERS, '0.1.0.tar.gz'), '-C', folder])
  const content = join(folder, 'CAS/content')
  writeFileSync(join(content, 'format.json'), LATER)
  const sentence = new RegExp(
    `content_path ${content} was written by remexec 7\\.0\\.0 in format 99, and remexec ${version} reads formats up to 2: start remexec 7\\.0\\.0 or a later release, or name another content_path`,
  )
  t.match(run(configIn(folder)), { status: 1, output: sentence })
  t.match(run('check', content), { status: 1, output: sentence })
  t.match(run('ls', content), { status: 1, output: sentence })
  t.equal(readFileSync(join(content, 'format.json'), 'utf8'), LATER, 'it is left as it was')

  writeFileSync(join(content, 'format.json'), '{')
  const { client, stop } = await started(t, folder)
  const missing = client.unary(`${CAS}/FindMissingBlobs`, { blobDigests: KEPT_BLOBS.map(({ digest }) => wire(digest)) })
  t.match(await missing.response, { missingBlobDigests: [] }, 'what is no note counts as none')
  await stop()
})

t.test('the same for the folder of build events', async (t) => {
  const folder = t.testdir()
  const path = join(folder, 'builds')
  mkdirSync(path)
  const config = join(folder, 'config.json')
  const services = { build_events: { path }, health: {} }
  const servers = [{ name: 'public', listener: { http: { socket_address: '127.0.0.1:0' } }, services }]
  writeFileSync(config, JSON.stringify({ stores: { CAS: { memory: {} } }, servers }))
  const server = serve(t, config, folder)
  await server.hears(/serving grpc/)
  server.child.kill('SIGTERM')
  await server.ended
  t.same(JSON.parse(readFileSync(join(path, 'format.json'), 'utf8')), { format: 1, remexec: version })
  writeFileSync(join(path, 'format.json'), LATER)
  t.match(run(config), { status: 1, output: /path of build_events .* was written by remexec 7\.0\.0 in format 99/ })
})
