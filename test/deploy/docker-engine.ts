/** Docker's own engine, which has its data in the folder of the test, and what stands for the images of Debian and of Node. */
import { cp, readFile, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import type { Test } from 'tap'
import { start } from '../cli/program.js'
import { type Outcome, run } from '../clients/process.js'
import { findClient } from '../clients/recipe/recipe.js'
import { root, scratchFolder } from '../clients/scratch.js'

const dockerd = await findClient('REMEXEC_TEST_DOCKERD', 'dockerd')
const docker = await findClient('REMEXEC_TEST_DOCKER', 'docker')
const { REMEXEC_TEST_DEBIAN: debian, REMEXEC_TEST_NODE_24: node } = process.env
const needs = { root: process.getuid?.() === 0, dockerd, docker, 'a Debian archive': debian, 'Node 24': node }
const lacking = Object.entries(needs).flatMap(([name, found]) => (found === undefined || found === false ? [name] : []))

/** What the engine lacks here; undefined if it can start. */
export const withoutEngine = lacking.length > 0 ? `needs ${lacking.join(', ')}` : undefined

export const DEBIAN = 'debian-of-test'
const NODE = 'node-of-test'
const CERTIFICATES = '/etc/ssl/certs/ca-certificates.crt'

export interface Engine {
  /** Of the test, and gone with it. */
  readonly folder: string
  readonly env: NodeJS.ProcessEnv
  asks(...args: readonly string[]): Promise<Outcome>
  /** What docker prints; throws for another exit code than 0. */
  succeeds(...args: readonly string[]): Promise<string>
  /** Builds a target of deploy/Containerfile, named as it is. */
  builds(t: Test, target: string, ...args: readonly string[]): Promise<void>
}

export const startEngine = async (t: Test): Promise<Engine> => {
  const folder = await scratchFolder(t)
  // Without BuildKit, which is a program of its own.
  const env = { ...process.env, DOCKER_HOST: `unix://${folder}/sock`, DOCKER_BUILDKIT: '0' }
  const engine = start(t, [
    // Ends with the test, however that ends.
    ...['setpriv', '--pdeathsig', 'TERM', dockerd ?? ''],
    ...['--data-root', `${folder}/data`, '--exec-root', `${folder}/exec`, '--pidfile', `${folder}/pid`],
    // It changes nothing of this machine's network.
    ...['--host', env.DOCKER_HOST, '--bridge=none', '--iptables=false'],
  ])
  const asks = (...args: readonly string[]): Promise<Outcome> => run(docker ?? '', args, root, env)
  const succeeds = async (...args: readonly string[]): Promise<string> => {
    const { code, output } = await asks(...args)
    if (code !== 0) throw new Error(`docker ${args.join(' ')}: ${code}\n${output}`)
    return output.trim()
  }
  t.teardown(async () => {
    const { output } = await asks('ps', '--all', '--quiet')
    for (const id of output.split('\n').filter(Boolean)) await asks('rm', '--force', id)
    engine.child.kill('SIGTERM')
    await engine.ended
    // The namespace of the host's network stays mounted.
    const mounts = (await readFile('/proc/mounts', 'utf8')).split('\n').map((line) => line.split(' ')[1] ?? '')
    for (const path of mounts.filter((path) => path.startsWith(`${folder}/`)).reverse())
      await run('umount', [path], root, process.env)
  })
  await engine.hears(/API listen on/)
  await buildBases(folder, succeeds)
  const bases = ['--build-arg', `NODE_IMAGE=${NODE}`, '--build-arg', `DEBIAN_IMAGE=${DEBIAN}`]
  const builds = async (t: Test, target: string, ...args: readonly string[]): Promise<void> => {
    const file = ['--file=deploy/Containerfile', `--target=${target}`, `--tag=${target}`]
    // The limit of a command would be too short.
    const building = start(t, [docker ?? '', 'build', '--network=host', ...bases, ...args, ...file, '.'], { env })
    t.match(await building.ended, { code: 0 }) || t.comment(building.said())
  }
  return { folder, env, asks, succeeds, builds }
}

/** What stands for the images of Debian and of Node, which a registry of images has. */
const buildBases = async (folder: string, succeeds: Engine['succeeds']): Promise<void> => {
  await succeeds('import', debian ?? '', DEBIAN)
  const context = join(folder, 'node')
  const { output } = await run('npm', ['root', '--global', '--loglevel=error'], root, process.env)
  await cp(join(output.trim(), 'npm'), join(context, 'npm'), { recursive: true })
  await cp(node ?? '', join(context, 'node'))
  await cp(CERTIFICATES, join(context, 'certificates'))
  const lines = [
    `FROM ${DEBIAN}`,
    'COPY node /usr/local/bin/node',
    'COPY npm /usr/local/lib/node_modules/npm',
    `COPY certificates ${CERTIFICATES}`,
    'RUN ln -s ../lib/node_modules/npm/bin/npm-cli.js /usr/local/bin/npm',
    `ENV npm_config_cafile=${CERTIFICATES}`,
  ]
  await writeFile(join(context, 'Dockerfile'), lines.join('\n'))
  await succeeds('build', '--network=host', '--tag', NODE, context)
}
