/** The two images of deploy/Containerfile: built by buildah on a Debian of debootstrap, and run with the command, user and variables they name. podman runs one, if it is there. */
import { existsSync } from 'node:fs'
import { copyFile, readFile } from 'node:fs/promises'
import { join } from 'node:path'
import t, { type Test } from 'tap'
import { start } from '../cli/program.js'
import { type Outcome, run } from '../clients/process.js'
import { findClient } from '../clients/recipe/recipe.js'
import { root, scratchFolder } from '../clients/scratch.js'

// For changes in: deploy/Containerfile, .dockerignore, package-lock.json, src/process/stop-signals.ts

t.setTimeout(600_000)

const buildah = await findClient('REMEXEC_TEST_BUILDAH', 'buildah')
const podman = await findClient('REMEXEC_TEST_PODMAN', 'podman')
const crun = await findClient('REMEXEC_TEST_CRUN', 'crun')
const { REMEXEC_TEST_DEBIAN: debian, REMEXEC_TEST_NODE_24: node } = process.env
const isRoot = process.getuid?.() === 0
const needs = { root: isRoot, buildah, 'a Debian archive': debian, 'Node 24': node }
const lacking = Object.entries(needs).flatMap(([name, found]) => (found === undefined || found === false ? [name] : []))
if (lacking.length > 0) {
  t.plan(0, `needs ${lacking.join(', ')}`)
  process.exit()
}

const folder = await scratchFolder(t)
const env = { ...process.env, TMPDIR: folder }
const succeeds = async (command: string, ...args: readonly string[]): Promise<string> => {
  const { code, output } = await run(command, args, root, env)
  if (code !== 0) throw new Error(`${command} ${args.join(' ')}: ${code}\n${output}`)
  return output.trim()
}

// overlay cannot lie on every file system, vfs can, and copies a layer for each step.
const storage = (driver: string) => [
  '--storage-driver',
  driver,
  '--root',
  `${folder}/root`,
  '--runroot',
  `${folder}/run`,
]
const canOverlay = (await run(buildah ?? '', [...storage('overlay'), 'images'], root, env)).code === 0
const image = (...args: readonly string[]) =>
  succeeds(buildah ?? '', ...storage(canOverlay ? 'overlay' : 'vfs'), ...args)
t.teardown(async () => {
  await image('umount', '--all')
  await image('rm', '--all')
  await image('rmi', '--all', '--force')
})

const DEBIAN = 'localhost/debian-of-test'
const NODE = 'localhost/node-of-test'
const CERTIFICATES = '/etc/ssl/certs/ca-certificates.crt'

/** What stands for the images of Debian and of Node, which a registry of images has. */
const buildBases = async (): Promise<void> => {
  const plain = await image('from', 'scratch')
  await image('add', '--quiet', plain, debian ?? '', '/')
  await image('commit', '--quiet', plain, DEBIAN)
  const withNode = await image('from', DEBIAN)
  const npm = join(await succeeds('npm', 'root', '--global', '--loglevel=error'), 'npm')
  await image('copy', '--quiet', withNode, node ?? '', '/usr/local/bin/node')
  await image('copy', '--quiet', withNode, npm, '/usr/local/lib/node_modules/npm')
  const link = ['ln', '-s', '../lib/node_modules/npm/bin/npm-cli.js', '/usr/local/bin/npm']
  await image('run', '--isolation', 'chroot', withNode, '--', ...link)
  if (existsSync(CERTIFICATES)) await image('copy', '--quiet', withNode, CERTIFICATES, CERTIFICATES)
  await image('config', '--env', `npm_config_cafile=${CERTIFICATES}`, withNode)
  await image('commit', '--quiet', withNode, NODE)
}

interface Config {
  readonly User: string
  readonly Env: readonly string[]
  readonly Entrypoint: readonly string[]
  readonly Cmd: readonly string[]
  readonly WorkingDir: string
  readonly Healthcheck: { readonly Test: readonly string[] }
}

interface Container {
  readonly at: string
  readonly config: Config
}

const build = async (target: string): Promise<Container> => {
  const bases = ['--build-arg', `NODE_IMAGE=${NODE}`, '--build-arg', `DEBIAN_IMAGE=${DEBIAN}`]
  const how = ['--isolation', 'chroot', '--format', 'docker', '--layers', '--target', target]
  await image('build', ...how, ...bases, '-f', 'deploy/Containerfile', '-t', `localhost/${target}`, '.')
  const container = await image('from', `localhost/${target}`)
  const { Docker } = JSON.parse(await image('inspect', container))
  return { at: await image('mount', container), config: Docker.config }
}

const variables = ({ config }: Container, more: NodeJS.ProcessEnv): NodeJS.ProcessEnv => ({
  ...Object.fromEntries(config.Env.map((line) => line.split(/=(.*)/s).slice(0, 2))),
  ...more,
})

/** A command in the image, as process 1 of a namespace of processes and with the image's user. */
const inside = ({ at, config }: Container, command: readonly string[]): string[] => {
  const [uid = '', gid = ''] = config.User.split(':')
  const namespaces = ['--mount', '--pid', '--fork', '--mount-proc', '--kill-child=SIGKILL']
  return [
    'unshare',
    ...namespaces,
    `--root=${at}`,
    '--setuid',
    uid,
    '--setgid',
    gid,
    '--wd',
    config.WorkingDir,
    ...command,
  ]
}

const runInside = (container: Container, more: NodeJS.ProcessEnv, ...command: readonly string[]): Promise<Outcome> => {
  // tap sets NODE_OPTIONS for every process that it sees begin.
  const [program = '', ...args] = inside(container, ['env', '-u', 'NODE_OPTIONS', ...command])
  return run(program, args, root, variables(container, more))
}

/** The one process whose command line begins so. */
const childOf = async (pid: number): Promise<number> =>
  Number((await readFile(`/proc/${pid}/task/${pid}/children`, 'utf8')).trim().split(' ')[0])

const serves = async (t: Test, container: Container): Promise<void> => {
  const { config } = container
  t.match(config.User, /^[1-9]\d*:[1-9]\d*$/, 'not root, and by number')
  const program = start(t, inside(container, [...config.Entrypoint, ...config.Cmd]), {
    // On the machine's own network, where only this address is for tests.
    env: variables(container, { REMEXEC_HOST: '127.0.0.1', REMEXEC_PORT: '0' }),
  })
  const [, page = ''] = await program.hears(/ {2}page +(http:\S+)/)
  t.equal((await fetch(page)).status, 200)
  t.match(program.said(), /data +\/data/)
  const first = await childOf(program.child.pid ?? 0)
  t.match(await readFile(`/proc/${first}/status`, 'utf8'), /^NSpid:.*\t1$/m)
  t.match(await readFile(`/proc/${first}/status`, 'utf8'), new RegExp(`^Uid:\\t${config.User.split(':')[0]}\\t`, 'm'))
  const [kind, ...check] = config.Healthcheck.Test
  t.equal(kind, 'CMD')
  const { port } = new URL(page)
  t.equal((await runInside(container, { REMEXEC_PORT: port }, ...check)).code, 0, 'healthy')
  process.kill(first, 'SIGTERM')
  t.same(await program.ended, { code: 143, signal: null })
  t.not((await runInside(container, { REMEXEC_PORT: port }, ...check)).code, 0, 'no longer healthy')
}

await buildBases()
const { peerDependencies } = JSON.parse(await readFile(join(root, 'package.json'), 'utf8'))
const optional = Object.keys(peerDependencies)
const has = ({ at }: Container, path: string): boolean => existsSync(join(at, path))

for (const [target, isFull] of [
  ['remexec', false],
  ['remexec-full', true],
] as const) {
  await t.test(`${target} is built, and serves as process 1 until SIGTERM`, async (t) => {
    const container = await build(target)
    for (const name of optional) t.equal(has(container, `opt/remexec/node_modules/${name}`), isFull, name)
    t.equal(has(container, 'usr/bin/bwrap'), isFull, 'bubblewrap')
    for (const name of ['tap', 'typescript', 'remexec-conformance'])
      t.notOk(has(container, `opt/remexec/node_modules/${name}`), name)
    t.notOk(has(container, 'usr/local/bin/npm'))
    await serves(t, container)
    await copyFile(join(root, 'deploy/recipes/team/remexec.json5'), join(container.at, 'mounted.json5'))
    const { code, output } = await runInside(container, {}, 'remexec', 'validate', '/mounted.json5')
    t.equal(code, 0, 'a configuration that is mounted') || t.comment(output)
  })
}

const noEngine = (podman === undefined || crun === undefined) && 'needs podman and crun'

await t.test('an engine runs the image, and its first answer is a page', { skip: noEngine }, async (t) => {
  // crun refuses mixed versions of control groups, even if it makes none: it sees the second one alone.
  const groups = 'mount --make-rprivate / && umount -R -l /sys/fs/cgroup && mount -t cgroup2 cgroup2 /sys/fs/cgroup'
  const engine = [
    podman ?? '',
    ...storage(canOverlay ? 'overlay' : 'vfs'),
    '--cgroup-manager',
    'cgroupfs',
    '--runtime',
    'crun',
  ]
  const limits = ['--cgroups=disabled', '--ulimit=nofile=4096:4096', '--ulimit=nproc=20000:20000']
  const variables = ['--env=REMEXEC_HOST=127.0.0.1', '--env=REMEXEC_PORT=0']
  const words = [
    ...engine,
    'run',
    '--rm',
    '--name=of-test',
    '--network=host',
    ...limits,
    ...variables,
    'localhost/remexec',
  ]
  const command = ['unshare', '--mount', 'sh', '-c', `${groups} && exec "$@"`, '-', ...words]
  const program = start(t, command, { env })
  const [, page = ''] = await program.hears(/ {2}page +(http:\S+)/)
  t.equal((await fetch(page)).status, 200)
  t.match(program.said(), /data +\/data/)
  program.child.kill('SIGTERM')
  t.same(await program.ended, { code: 143, signal: null }, 'podman passes the signal on')
})
