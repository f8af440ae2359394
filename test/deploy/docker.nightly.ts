/** The images of deploy/Containerfile with Docker's own engine, which has its data in the folder of the test: built, run as the README says, and by compose. */
import { mkdir, readFile, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import t, { type Test } from 'tap'
import { buildFirst, withoutBazel } from '../clients/first-build.js'
import { type Outcome, run } from '../clients/process.js'
import { findClient } from '../clients/recipe/recipe.js'
import { root } from '../clients/scratch.js'
import { found, untilSo } from '../until.js'
import { type Compose, useCompany, withoutCompany } from './company-compose.js'
import { DEBIAN, startEngine, withoutEngine } from './docker-engine.js'
import { useServers, withoutServers } from './servers-compose.js'

// For changes in: deploy/Containerfile, deploy/compose.yaml, deploy/recipes/company, deploy/recipes/servers, .dockerignore, package-lock.json, src/process/stop-signals.ts

t.setTimeout(1_200_000)

const compose = await findClient('REMEXEC_TEST_DOCKER_COMPOSE', 'docker-compose')
if (withoutEngine !== undefined) {
  t.plan(0, withoutEngine)
  process.exit()
}

const { folder, env, asks, succeeds, builds } = await startEngine(t)

const labels = [
  '--build-arg',
  'VERSION=7.8.9',
  '--build-arg',
  'REVISION=abc',
  '--build-arg',
  'SOURCE=https://a.invalid/b',
]

/** On a free port, and on this machine's address for tests. */
const HERE = ['--network=host', '--env=REMEXEC_HOST=127.0.0.1', '--env=REMEXEC_PORT=0', '--env=REMEXEC_LOG_FORMAT=text']

const pageOf = (logs: () => Promise<Outcome>): Promise<string> =>
  found(async () => / {2}page +(http:\S+)/.exec((await logs()).output)?.[1], 'the address of the page')

const ends = async (t: Test, container: string): Promise<void> => {
  await succeeds('stop', '--time=60', container)
  t.equal(await succeeds('inspect', '--format={{.State.ExitCode}}', container), '143', 'the signal reached remexec')
}

for (const target of ['remexec', 'remexec-full']) {
  await t.test(`docker builds ${target}, and its container answers, is healthy and keeps its data`, async (t) => {
    await builds(t, target, ...labels)
    const named = JSON.parse(await succeeds('inspect', '--format={{json .Config.Labels}}', target))
    t.match(named, {
      'org.opencontainers.image.title': 'remexec',
      'org.opencontainers.image.version': '7.8.9',
      'org.opencontainers.image.revision': 'abc',
      'org.opencontainers.image.source': 'https://a.invalid/b',
      'org.opencontainers.image.licenses': 'Apache-2.0',
    })
    t.comment(`${target}: ${Number(await succeeds('inspect', '--format={{.Size}}', target)) / 1e6} MB`)
    await succeeds('run', '--detach', `--name=${target}`, ...HERE, `--volume=${target}:/data`, target)
    const page = await pageOf(() => asks('logs', target))
    t.equal((await fetch(page)).status, 200)
    t.match(await succeeds('exec', target, 'node', '--version'), /^v24\./)
    t.equal(await succeeds('exec', target, 'id', '-u'), '1000')
    const health = '--format={{json .Config.Healthcheck.Test}}'
    const [, ...check] = JSON.parse(await succeeds('inspect', health, target)) as string[]
    await succeeds('exec', `--env=REMEXEC_PORT=${new URL(page).port}`, target, ...check)
    const server = `grpc://${new URL(page).host}`
    const put = await succeeds(
      'exec',
      target,
      'sh',
      '-c',
      `echo kept >/tmp/file; remexec cas put --server ${server} /tmp/file`,
    )
    const [digest = ''] = /[0-9a-f]{64}-5/.exec(put) ?? []
    await ends(t, target)
    await succeeds('start', target)
    const again = await found(async () => {
      const { output } = await asks('logs', target)
      return [...output.matchAll(/ {2}page +(http:\S+)/g)][1]?.[1]
    }, 'the second start')
    const get = `remexec cas get --server grpc://${new URL(again).host} ${digest}`
    t.equal(await succeeds('exec', target, 'sh', '-c', get), 'kept')
    await ends(t, target)
    if (withoutBazel) return
    await succeeds('run', '--detach', `--name=${target}-again`, ...HERE, target)
    await pageOf(() => asks('logs', `${target}-again`))
    await buildFirst(t, await succeeds('logs', `${target}-again`))
    await ends(t, `${target}-again`)
  })
}

const noCompose = compose === undefined && 'needs docker-compose'

await t.test('compose starts the service of deploy/, and takes it down', { skip: noCompose }, async (t) => {
  const text = await readFile(join(root, 'deploy/compose.yaml'), 'utf8')
  // Its published port needs a bridge, which this engine has not.
  const here = text
    .replace(
      /^ {4}ports: .*$/m,
      '    network_mode: host\n    environment: {REMEXEC_HOST: 127.0.0.1, REMEXEC_PORT: 0, REMEXEC_LOG_FORMAT: text}',
    )
    .replace('context: ..', `context: ${root}`)
    .replace(/^services:/m, "version: '3.7'\nservices:")
  t.not(here, text)
  const file = join(folder, 'compose.yaml')
  await writeFile(file, here)
  const composes = (...args: readonly string[]) => run(compose ?? '', ['--file', file, ...args], root, env)
  t.match(await composes('up', '--detach', '--no-build'), { code: 0 })
  t.equal((await fetch(await pageOf(() => composes('logs')))).status, 200)
  t.match(await composes('down'), { code: 0 })
  await untilSo(async () => (await asks('ps', '--all', '--quiet', '--filter=name=compose')).output === '')
  t.match(await asks('volume', 'ls', '--quiet'), { output: /_data$/m }, 'the data stays')
})

const composesAt: Compose = (file, variables, ...args) =>
  run(compose ?? '', ['--file', file, ...args], root, { ...env, ...variables })

await t.test(
  'compose starts the recipe company, and clients with tokens use it',
  { skip: noCompose || withoutCompany },
  (t) => useCompany(t, composesAt),
)

const HAPROXY = 'haproxy-of-test'

await t.test(
  'compose starts the recipe servers, and builds go on when the one that leads is killed',
  { skip: noCompose || withoutServers },
  async (t) => {
    const context = join(folder, 'haproxy')
    await mkdir(context)
    const install = 'RUN apt-get update && apt-get install --yes --no-install-recommends haproxy'
    const command = 'CMD ["haproxy", "-W", "-db", "-f", "/usr/local/etc/haproxy/haproxy.cfg"]'
    await writeFile(join(context, 'Dockerfile'), [`FROM ${DEBIAN}`, install, command].join('\n'))
    await succeeds('build', '--network=host', '--tag', HAPROXY, context)
    await useServers(t, composesAt, HAPROXY)
  },
)
