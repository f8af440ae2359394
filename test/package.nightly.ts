import { existsSync } from 'node:fs'
import { cp, lstat, readdir, readFile, rm, writeFile } from 'node:fs/promises'
import { dirname, join } from 'node:path'
import t, { type Test } from 'tap'
import { start } from './cli/program.js'
import { startAndBuild, withoutBazel } from './clients/first-build.js'
import { cleanEnv, type Outcome, run } from './clients/process.js'
import { root, scratchFolder } from './clients/scratch.js'
import { startServer } from './clients/server.js'
import { TestClient } from './server/client.js'
import { until } from './until.js'

// For changes in: package.json, package-lock.json, conformance/package.json, scripts, src/cli.ts, src/assembly, src/process

t.setTimeout(400_000)

const ZSTD = 1

const folder = await scratchFolder(t)
const home = join(folder, 'home')
const installed = join(folder, 'prefix', 'lib', 'node_modules', 'remexec')
const remexec = (...args: readonly string[]): Promise<Outcome> =>
  run(join(folder, 'prefix', 'bin', 'remexec'), args, folder, cleanEnv(home))

const npm = async (t: Test, cwd: string, ...args: readonly string[]): Promise<void> => {
  const { code, output } = await run('npm', args, cwd, process.env)
  t.equal(code, 0, `npm ${args[0]}`) || t.comment(output)
}

/** The compressors a server says it takes. */
const compressorsOf = async (t: Test, uri: string): Promise<number[]> => {
  const client = new TestClient(uri.replace('grpc://', ''))
  t.teardown(() => client.client.close())
  const { response } = client.unary('build.bazel.remote.execution.v2.Capabilities/GetCapabilities', {})
  return (await response).cacheCapabilities.supportedCompressors
}

interface Packed {
  readonly size: number
  readonly files: readonly { readonly path: string }[]
}

/** What `npm publish` would send. */
const packed = async (t: Test, ...options: readonly string[]): Promise<Packed> => {
  const args = ['pack', '--dry-run', '--json', '--ignore-scripts', '--loglevel=error', ...options]
  const { code, output } = await run('npm', args, root, process.env)
  t.equal(code, 0) || t.comment(output)
  return JSON.parse(output.slice(output.indexOf('[\n'))).at(0)
}

t.test('npm publish sends the program, its documents and nothing of the tests', async (t) => {
  const { size, files } = await packed(t)
  const paths = files.map(({ path }) => path)
  const folders = new Set(paths.map((path) => path.split('/')[0]))
  t.same([...folders].sort(), [
    'CHANGELOG.md',
    'CONTRIBUTING.md',
    'LICENSE',
    'README.md',
    'deploy',
    'dist',
    'docs',
    'package.json',
    'protos',
    'schema',
  ])
  const modules = paths.filter((path) => path.startsWith('dist/'))
  t.ok(modules.length > 100)
  const importedBy = async (module: string): Promise<string[]> => {
    const text = await readFile(join(root, module), 'utf8')
    return [...text.matchAll(/(?:from|import|import\()\s*"(\.[^"]+\.js)"/g)].map(([, path = '']) =>
      join(dirname(module), path),
    )
  }
  const imported = new Set((await Promise.all(modules.map(importedBy))).flat())
  t.same(
    modules.filter((path) => !imported.has(path)),
    [
      'dist/assembly/threads/service-thread.js',
      'dist/assembly/worker-process.js',
      'dist/ccache-storage.js',
      'dist/licenses.txt',
      'dist/security/identity/bcrypt-process.js',
    ],
    'programs, and what they import, `cli.js` too',
  )
  t.same(
    [...imported].filter((path) => !modules.includes(path)),
    [],
  )
  t.same(
    paths.filter((path) => /\.test\.|\.nightly\.|\.map$|\.env|\.pem$|\.key$|(^|\/)node_modules\//.test(path)),
    [],
  )
  t.ok(size < 1_500_000, `${size} bytes`)
})

t.test('both packages may be published, have one version, and name no address that is not there', async (t) => {
  const manifests = await Promise.all(
    ['package.json', 'conformance/package.json'].map(async (path) =>
      JSON.parse(await readFile(join(root, path), 'utf8')),
    ),
  )
  for (const manifest of manifests) {
    t.notOk(manifest.private, `${manifest.name} is not private`)
    t.equal(manifest.version, manifests[0].version)
    t.equal(manifest.publishConfig?.access, 'public')
    // npm refuses provenance without the address of a repository.
    t.equal(manifest.publishConfig?.provenance === true, manifest.repository !== undefined)
  }
  t.match(await readFile(join(root, 'deploy/chart/Chart.yaml'), 'utf8'), `appVersion: "${manifests[0].version}"`)
})

t.test('a release writes its version everywhere, and dates the changelog', async (t) => {
  const copy = join(folder, 'release')
  const named = ['package.json', 'package-lock.json', 'conformance/package.json', 'deploy/chart/Chart.yaml']
  for (const path of [...named, 'CHANGELOG.md']) await cp(join(root, path), join(copy, path))
  const release = (...args: readonly string[]) =>
    run(process.execPath, [join(root, 'scripts/release.mjs'), ...args], copy, {
      ...process.env,
      REMEXEC_RELEASE_ROOT: copy,
    })
  t.equal((await release('v7')).code, 1, 'not a version')
  await writeFile(join(copy, 'CHANGELOG.md'), '# Changelog\n\n## Unreleased\n\n- A change.\n\n## 0.1.0\n')
  t.same(await release('7.8.9', '2031-02-03'), { code: 0, output: '7.8.9 of 2031-02-03\n' })
  t.equal(
    await readFile(join(copy, 'CHANGELOG.md'), 'utf8'),
    '# Changelog\n\n## Unreleased\n\n## 7.8.9 - 2031-02-03\n\n- A change.\n\n## 0.1.0\n',
  )
  for (const path of named) {
    const [before, after] = await Promise.all([readFile(join(root, path), 'utf8'), readFile(join(copy, path), 'utf8')])
    const { version } = JSON.parse(await readFile(join(root, 'package.json'), 'utf8')) as { version: string }
    t.equal(after.split('7.8.9').length, path === 'package-lock.json' ? 4 : path.endsWith('yaml') ? 3 : 2, path)
    t.equal(after.replaceAll('7.8.9', version), before, `${path}: nothing else changes`)
  }
  t.equal((await release('7.8.9')).code, 1, 'the same version again')
})

t.test(
  'npm pack and npm install: the package is complete and needs neither a compiler nor an install script',
  async (t) => {
    // The checkout was built for the tests; building anew would pull dist/ away from those that run beside this one.
    await npm(t, root, 'pack', '--ignore-scripts', '--pack-destination', folder)
    const { version } = JSON.parse(await readFile(join(root, 'package.json'), 'utf8')) as { version: string }
    // From npm's cache where that has the dependencies, else from its registry.
    const flags = ['--prefer-offline', '--ignore-scripts', '--no-audit', '--no-fund']
    const target = ['--global', '--prefix', join(folder, 'prefix'), `./remexec-${version}.tgz`]
    const { code, output } = await run('npm', ['install', ...flags, ...target], folder, process.env)
    t.equal(code, 0, 'npm install') || t.comment(output)

    t.same(await remexec('--version'), { code: 0, output: `remexec ${version}\n` })
    for (const file of ['LICENSE', 'README.md', 'docs/configuration.md', 'docs/architecture.md']) {
      t.ok(existsSync(join(installed, file)), file)
    }
    t.ok(existsSync(join(installed, 'dist/licenses.txt')), 'the licences of the libraries in dist/')
    const paths = await readdir(installed, { recursive: true })
    const sizes = await Promise.all(paths.map(async (path) => (await lstat(join(installed, path))).blocks * 512))
    const sizeMb = sizes.reduce((sum, size) => sum + size, 0) / 1e6
    t.comment(`${sizeMb.toFixed(1)} MB in ${paths.length} files`)
    t.ok(sizeMb < 45, `${sizeMb} MB`)
    t.equal(paths.filter((path) => path.endsWith('/protobufjs/package.json')).length, 1, 'one protobufjs')
    const help = await remexec('--help')
    const [named = ''] = /\/\S+\.md/.exec(help.output) ?? []
    t.ok(existsSync(named), `--help names a page that is there: ${named}`)
  },
)

const node24 = process.env['REMEXEC_TEST_NODE_24']

t.test('on Node 24 it serves the first build', { skip: node24 === undefined ? 'needs Node 24' : withoutBazel }, (t) =>
  startAndBuild(t, 'npm and Node 24', () => {
    const env = { ...cleanEnv(home), REMEXEC_LOG_FORMAT: 'text' }
    return start(t, [node24 ?? '', join(installed, 'dist/cli.js'), 'start', '--port', '0'], { env })
  }),
)

t.test('the installed program checks and serves', async (t) => {
  const checked = await remexec('validate', join(installed, 'deploy/recipes/machine/remexec.json5'))
  t.equal(checked.code, 0) || t.comment(checked.output)
  const server = await startServer(t, join(folder, 'data'), { from: installed })
  const page = server.uri.replace('grpc:', 'http:').concat('/status')
  // Not well before the server's own worker has connected.
  await until(async () => (await fetch(page)).status === 200, '200 of /status')
  t.ok((await compressorsOf(t, server.uri)).includes(ZSTD), 'zstd')
  t.equal(await server.stop(), 143)
})

t.test(
  'without what zstd needs it serves everything else, and a store that asks for zstd is refused by name',
  async (t) => {
    await rm(join(installed, 'node_modules', 'koffi'), { recursive: true })
    const server = await startServer(t, join(folder, 'data'), { from: installed })
    const compressors = await compressorsOf(t, server.uri)
    t.ok(compressors.length > 0 && !compressors.includes(ZSTD), 'no zstd is announced')
    t.match(server.log(), /warn +zstd is not offered to clients reason=".*libzstd.*koffi/)
    await server.stop()

    const memory = { memory: {} }
    const stores = { CAS: { compression: { compression_algorithm: { zstd: {} }, backend: memory } }, AC: memory }
    const services = { cas: { main: { cas_store: 'CAS' } }, ac: { main: { ac_store: 'AC' } } }
    const servers = { public: { listener: { http: { socket_address: '127.0.0.1:0' } }, services } }
    const path = join(folder, 'zstd.json')
    await writeFile(path, JSON.stringify({ stores, servers }))
    const { code, output } = await remexec(path)
    t.equal(code, 1)
    t.match(output, /CAS.*zstd needs libzstd\.so\.1/)
  },
)
