/**
 * Bazel builds a workspace whose targets name two images, on one worker: systems of two releases of Debian by debootstrap, one of which also has
 * another C library, pushed to a registry of Debian's package.
 */
import { execFile, spawn } from 'node:child_process'
import { existsSync } from 'node:fs'
import { mkdir, readFile, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { promisify } from 'node:util'
import t from 'tap'
import { freePorts } from '../store/remote/backend.js'
import { until } from '../until.js'
import { whyNot } from '../worker/image/set-up.js'
import { Bazel, bazelRelease } from './bazel.js'
import { scratchFolder } from './scratch.js'
import { startServer } from './server.js'

// For changes in: src/worker/image, src/scheduler/simple/warm, src/scheduler/simple/queue/without-images.ts

t.setTimeout(600_000)

const program = process.env['REMEXEC_TEST_BAZEL_4'] ?? 'bazel'
const older = process.env['REMEXEC_TEST_DEBIAN'] ?? ''
const newer = process.env['REMEXEC_TEST_DEBIAN_TRIXIE'] ?? ''
const registry = process.env['REMEXEC_TEST_DOCKER_REGISTRY'] ?? '/usr/bin/docker-registry'
const needs = {
  Bazel: (await bazelRelease(program)) !== undefined,
  root: process.getuid?.() === 0,
  'archives of Debian 12 and 13': older !== '' && newer !== '',
  'docker-registry': existsSync(registry),
  'bubblewrap, skopeo and umoci': (await whyNot()) === false,
}
const lacking = Object.entries(needs).flatMap(([name, isThere]) => (isThere ? [] : [name]))
if (lacking.length > 0) {
  t.plan(0, `needs ${lacking.join(', ')}`)
  process.exit()
}

const run = async (command: string, ...args: readonly string[]): Promise<string> => {
  const { stdout } = await promisify(execFile)(command, args, { maxBuffer: 1 << 26 })
  return stdout
}

const folder = await scratchFolder(t)
const [port = 0] = await freePorts(1)
const host = `127.0.0.1:${port}`

/** Debian's registry, with its data in the folder. */
const startRegistry = async (): Promise<void> => {
  const config = join(folder, 'registry.yml')
  const text = {
    version: 0.1,
    storage: { filesystem: { rootdirectory: join(folder, 'registry') } },
    http: { addr: host },
  }
  await writeFile(config, JSON.stringify(text))
  const child = spawn(registry, ['serve', config], { stdio: 'ignore' })
  t.teardown(() => child.kill('SIGKILL'))
  await until(async () => (await fetch(`http://${host}/v2/`).catch(() => undefined))?.ok === true)
}

/** Pushes an archive as an image of one layer. Returns its name by digest. */
const push = async (name: string, archive: string): Promise<string> => {
  const layout = join(folder, name)
  const image = `${layout}:1`
  await run('umoci', 'init', '--layout', layout)
  await run('umoci', 'new', '--image', image)
  await run('umoci', 'raw', 'add-layer', '--image', image, archive)
  await run('umoci', 'config', '--image', image, '--config.env', `IMAGE=${name}`)
  const to = `docker://${host}/debian/${name}:1`
  await run('skopeo', '--insecure-policy', 'copy', '--quiet', '--dest-tls-verify=false', `oci:${image}`, to)
  const digest = await run('skopeo', 'inspect', '--tls-verify=false', '--format', '{{.Digest}}', to)
  return `docker://${host}/debian/${name}@${digest.trim()}`
}

await startRegistry()
const [bookworm, trixie] = [await push('bookworm', older), await push('trixie', newer)]

const server = await (async () => {
  const text = await readFile('deploy/recipes/machine/remexec.json5', 'utf8')
  const images = `container_images: { registries: ['http://${host}'] }, use_namespaces: true, use_mount_namespace: true,`
  const config = join(folder, 'remexec.json5')
  await writeFile(config, text.replace("        work_directory: '", `        ${images}\n        work_directory: '`))
  return startServer(t, join(folder, 'data'), { config })
})()

const workspace = join(folder, 'workspace')
await mkdir(workspace)
await writeFile(join(workspace, 'WORKSPACE'), '')
/** What a system says of itself: its release, its C library, and a variable of its image. */
const says = 'cat /etc/debian_version; ldd --version | sed -n 1p; echo $$IMAGE'
await writeFile(
  join(workspace, 'BUILD'),
  `
genrule(name = "old", outs = ["old.txt"], cmd = "(${says}) > $@", exec_properties = {"container-image": "${bookworm}"})
# As BuildBuddy's users write it: the pool is passed on, and changes nothing here.
genrule(name = "new", outs = ["new.txt"], cmd = "(${says}) > $@",
        exec_properties = {"container-image": "${trixie}", "Pool": "default", "OSFamily": "linux"})
genrule(name = "musl", outs = ["musl.txt"], cmd = "(/lib/ld-musl-x86_64.so.1 2>&1 || true) > $@",
        exec_properties = {"container-image": "${trixie}"})
genrule(name = "both", srcs = [":old", ":new", ":musl"], outs = ["both.txt"], cmd = "cat $(SRCS) > $@",
        exec_properties = {"container-image": "${bookworm}"})
genrule(name = "none", outs = ["none.txt"], cmd = "printenv IMAGE > $@ || echo none > $@")
genrule(name = "gone", outs = ["gone.txt"], cmd = "true > $@", tags = ["manual"],
        exec_properties = {"container-image": "docker://${host}/debian/gone:1"})
`,
)
const bazel = new Bazel(program, folder, workspace)
t.teardown(() => bazel.shutdown())
// Its worker removes folders until it has ended.
t.teardown(() => server.stop())
const flags = [`--remote_executor=${server.uri}`, '--spawn_strategy=remote', '--jobs=8']
const text = (path: string) => readFile(bazel.output(path), 'utf8')

t.test('one worker runs each target in the image that it names', async (t) => {
  const { code, output, ran } = await bazel.run('build', ...flags, '//...')
  t.equal(code, 0) || t.comment(output, server.log())
  t.same(ran, { remote: 5 })
  t.match(await text('old.txt'), /^12\.\d+\nldd \(Debian GLIBC 2\.36-.*\nbookworm\n$/)
  t.match(await text('new.txt'), /^13\.\d+\nldd \(Debian GLIBC 2\.41-.*\ntrixie\n$/)
  t.match(await text('musl.txt'), /^musl libc \(x86_64\)/)
  t.equal(await text('both.txt'), (await text('old.txt')) + (await text('new.txt')) + (await text('musl.txt')))
  t.equal(await text('none.txt'), 'none\n')
})

t.test('a target whose image the registry does not have fails with what to do', async (t) => {
  const { code, output } = await bazel.run('build', ...flags, '//:gone')
  t.not(code, 0)
  t.match(output, /debian\/gone:1 could not be used: its registry has no such image/)
})
